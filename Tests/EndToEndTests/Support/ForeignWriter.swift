import Foundation
import Testing

/// Another process that writes to a database, a transaction at a time.
final class ForeignWriter {
  /// The program that writes.
  enum Tool: String, CaseIterable, CustomTestStringConvertible {
    case sqlite3, python3

    var testDescription: String { rawValue }
  }

  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  let process: ChildProcess
  private let tool: Tool
  private var count = 0

  init(_ path: String, tool: Tool = .sqlite3) throws {
    self.tool = tool
    switch tool {
    case .sqlite3:
      process = try ChildProcess("sqlite3", ["-batch", path], joinsErrors: true)
      try process.write(".timeout 20000\n")
    case .python3:
      process = try ChildProcess("python3", ["-u", "-c", Self.program, path], joinsErrors: true)
    }
    // Nothing here survives a power failure, nor has to.
    try run("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;")
  }

  /// Commits all of `sql` as one transaction, and waits until the tool says that it is done.
  func commit(_ sql: String) throws { try run("BEGIN IMMEDIATE; \(sql); COMMIT;") }

  /// Runs statements as they are, and waits until they are done.
  ///
  /// - Throws: ``Refused`` with the tool's own words where it reports an error.
  func run(_ sql: String) throws {
    count += 1
    let mark = "done-\(count)"
    let line = sql.split(whereSeparator: \.isNewline).joined(separator: " ")
    switch tool {
    case .sqlite3: try process.write("\(line);\n.print \(mark)\n")
    case .python3: try process.write("\(mark) \(line)\n")
    }
    var problems: [String] = []
    while let line = try process.output.next() {
      guard line == mark else {
        problems.append(line)
        continue
      }
      let words = problems.joined(separator: "\n")
      if words.contains("rror") { throw Refused(description: "\(sql)\n\(words)") }
      return
    }
    throw Refused(description: "\(tool) has ended: \(problems.joined(separator: "\n"))")
  }

  /// Lets the process end by itself.
  func end() throws {
    process.closeInput()
    _ = try process.exitCode()
  }

  private static let program = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
    for line in sys.stdin:
        mark, _, sql = line.partition(" ")
        try:
            connection.executescript(sql)
        except Exception as error:
            print("Error:", error, flush=True)
        print(mark, flush=True)
    """
}
