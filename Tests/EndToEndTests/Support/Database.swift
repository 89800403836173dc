import Foundation

/// A database file made and read by the command line of SQLite.
struct Database {
  let path: String

  /// Makes the file.
  static func make(_ path: String, _ schema: String, journal: JournalMode) throws -> Database {
    let database = Database(path: path)
    try database.execute("PRAGMA journal_mode = \(journal.rawValue); \(schema)")
    return database
  }

  func execute(_ sql: String) throws {
    let result = try ChildProcess.run(
      "sqlite3", ["-batch", "-bail", path], input: ".timeout 20000\n\(sql)\n;\n")
    guard result.exitCode == 0, result.errors.isEmpty else {
      throw ForeignWriter.Refused(description: "\(sql)\n\(result.errors)")
    }
  }

  /// What a plain SELECT returns, as objects.
  func select(_ sql: String) throws -> [JSONValue] {
    let result = try ChildProcess.run(
      "sqlite3", ["-batch", "-bail", "-readonly", "-json", path],
      input: ".timeout 20000\n\(sql)\n;\n")
    guard result.exitCode == 0, result.errors.isEmpty else {
      throw ForeignWriter.Refused(description: "\(sql)\n\(result.errors)")
    }
    return result.output.isEmpty ? [] : try JSONValue(parsing: result.output).elements
  }
}
