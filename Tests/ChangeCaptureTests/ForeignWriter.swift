import Foundation
import TestSupport

/// Another process that writes to a database: a Python interpreter which runs one statement for
/// each line of its standard input, and answers each with a line.
final class ForeignWriter {
  struct Failure: Error { var message: String }

  private let process: SpawnedProcess
  private var received: [UInt8] = []

  init(_ path: String, pragmas: [String] = []) throws {
    process = try SpawnedProcess("python3", ["-u", "-c", Self.program, path])
    for pragma in pragmas { try execute("PRAGMA " + pragma) }
  }

  deinit {
    process.input.close()
    _ = process.exitCode(within: 20)
  }

  /// Runs one statement outside of any transaction that is not begun by a statement.
  ///
  /// - returns: the rows in Python's notation.
  @discardableResult
  func execute(_ sql: String) throws -> String {
    let line = sql.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
    try process.input.write(line)
    let answer = try readLine().split(separator: "\t", maxSplits: 1).map(String.init)
    guard answer.count == 2, answer[0] == "ok" else {
      throw Failure(message: answer.joined(separator: " "))
    }
    return answer[1]
  }

  /// Ends the process as if it had crashed.
  func kill() {
    process.signal(SIGKILL)
    _ = process.exitCode(within: 20)
  }

  private func readLine() throws -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard let more = process.output.read(until: Date(timeIntervalSinceNow: 60)), !more.isEmpty
      else { throw Failure(message: "the writer has ended, or does not answer") }
      received += more
    }
  }

  /// `repeat N STATEMENT` runs a statement so often; `?` in it stands for the number of the run.
  private static let program = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
    for line in sys.stdin:
        try:
            if line.startswith("repeat "):
                _, count, sql = line.split(" ", 2)
                for i in range(int(count)):
                    connection.execute(sql, (i,))
                rows = []
            else:
                rows = connection.execute(line).fetchall()
            print("ok", rows, sep="\\t", flush=True)
        except Exception as error:
            print("error", error, sep="\\t", flush=True)
    """
}
