import ArgumentParser
import Callers
import Demo
import Foundation
import RecordsAPI

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks a configuration against its database, and shows its queries.",
    discussion: """
      Prints each query with its columns, key, tracking and SQL. Exits with 1 where there are \
      problems, after listing all of them on standard error as FILE:LINE:COLUMN: MESSAGE.
      """)

  @OptionGroup var arguments: DatabaseArguments

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "Say what a caller with these claims may read, and run it: '{\"user\": 7, \"role\": \"customer\"}'.",
      valueName: "claims"))
  var caller: String?

  func validate() throws {
    guard arguments.config != nil || arguments.database != nil else {
      throw ValidationError("Name a configuration with --config FILE, or a database.")
    }
  }

  func run() throws {
    let settings = try arguments.settings()
    let claims = try caller.map { text in
      guard settings.callers != nil else {
        throw ValidationError("--as is for a configuration with `callers`: everybody may read all.")
      }
      do {
        return try Claims(json: text)
      } catch let error as JSONProblem {
        throw ValidationError("--as: \(error.message) (at byte \(error.offset)).")
      }
    }
    try arguments.reportingProblems {
      let demo = settings.database == nil ? try DemoDatabase() : nil
      defer { demo?.remove() }
      let reports = try QueryReport.all(
        settings, database: settings.database ?? demo?.path ?? "", as: claims)
      StandardOutput.write(reports.map(\.text).joined(separator: "\n"))
    }
  }
}
