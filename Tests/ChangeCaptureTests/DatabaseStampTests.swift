import Foundation
import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

@Suite struct DatabaseStampTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A file that is moved over one whose log stays is used with that log, whatever mode it is marked
  /// for; and then commits are in the log alone.
  @Test func `each commit to a log beside a file marked for a rollback journal has another stamp`()
    throws
  {
    let writer = try ForeignWriter(folder.file())
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY)")
    try writer.execute("VACUUM INTO '\(folder.file("copy.db"))'")
    let copy = try ForeignWriter(folder.file("copy.db"))
    try copy.execute("PRAGMA journal_mode = DELETE")
    try writer.execute("INSERT INTO item VALUES (1)")
    #expect(rename(folder.file("copy.db"), folder.file()) == 0)
    let next = try ForeignWriter(folder.file())
    #expect(try next.execute("PRAGMA journal_mode") == "[('wal',)]")
    var configuration = Configuration()
    configuration.readonly = true
    let connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
    func stamp() throws -> DatabaseStamp {
      try #require(connection.unsafeRead { DatabaseStamp(in: $0, path: folder.file()) })
    }
    var stamps = [try stamp()]
    for id in 2...4 {
      try next.execute("INSERT INTO item VALUES (\(id))")
      stamps.append(try stamp())
    }
    for (index, stamp) in stamps.enumerated() {
      #expect(!stamps[..<index].contains(stamp), "commit \(index)")
    }
  }
}
