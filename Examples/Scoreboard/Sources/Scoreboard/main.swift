import FetchedRecordsClient
import Foundation

// Prints a query's sections, and then what changes:
//
//     swift run Scoreboard http://127.0.0.1:8080/v1/queries/players country=FR

/// A record of any query.
typealias Row = [String: RemoteValue]

func line(_ row: Row) -> String {
  row.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
}

func write(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
  write("Scoreboard URL [NAME=VALUE …]")
  exit(64)
}
var parameters: [String: any RemoteParameter] = [:]
for argument in CommandLine.arguments.dropFirst(2) {
  let words = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    .map(String.init)
  parameters[words[0]] = words.count > 1 ? words[1] : ""
}

let board = RemoteRecordsController<Row>(url, parameters: parameters)
do {
  for try await change in board.changeSets {
    if change.isReset {
      for section in change.new.sections {
        write("\(section.name ?? "all"): \(section.numberOfRecords)")
        for row in section.records { write("  \(line(row))") }
      }
    }
    for recordChange in change.recordChanges {
      let sign =
        switch recordChange {
        case .insertion: "+"
        case .deletion: "-"
        case .move: "~"
        case .update: "="
        }
      write("\(sign) \(line(change.record(of: recordChange)))")
    }
  }
  write("there is nothing more to come")
} catch {
  write("\(error)")
  exit(1)
}
