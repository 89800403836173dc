package import GRDB

/// Names one state of a database file: equal stamps mean equal content.
///
/// For what is kept between two lives of a process, such as a cache. It joins what SQLite itself
/// goes by with what the file system says:
///
/// - the file's number, size and times, and its first 100 bytes with the change counter, which every
///   transaction of a rollback-journal database counts
///   (https://www.sqlite.org/fileformat2.html#file_change_counter);
/// - in write-ahead mode the header of the log's index, which differs for every commit as long as
///   the log lasts.
///
/// Different stamps do not mean different content: a checkpoint changes the file. When the last
/// connection of a write-ahead database is closed, the log goes into the file and away, so no stamp
/// from before is equal to one from after.
package struct DatabaseStamp: Sendable, Equatable {
  package let bytes: [UInt8]

  private static let fileHeaderSize = 100
  /// Two writes within one tick of the file system's clock leave the same times.
  private static let clockDoubt: Int64 = 2_000_000_000

  /// The stamp of what a connection's next transaction will see, or what its present one sees if the
  /// stamp of just before it is the same.
  ///
  /// - Returns: nil where there is none: the database lives in memory, is locked, or was written so
  ///   recently that its times tell nothing.
  ///
  /// O(1): three small reads.
  package init?(in db: Database, path: String) {
    guard let status = FileStatus(path: path), let connection = db.sqliteConnection,
      let files = try? DatabaseFiles(of: connection)
    else { return nil }
    let header = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.fileHeaderSize, alignment: 8)
    defer { header.deallocate() }
    guard (try? files.read(.database, at: 0, into: header)) != nil else { return nil }
    var bytes = Array(header)
    for number in [
      Int64(bitPattern: status.identity.device), Int64(bitPattern: status.identity.inode),
      status.size, status.modified, status.changed,
    ] {
      withUnsafeBytes(of: number) { bytes += $0 }
    }
    // The mark in the file does not tell: a log that merely lies beside it is used as well.
    guard let mode = try? JournalMode(of: db) else { return nil }
    if mode == .writeAheadLog {
      // The question has opened the log, if it was not open.
      var index = WALIndex(files)
      guard let log = try? index.header() else { return nil }
      if log.maxFrame > 0 {
        // Not the count of commits: it begins anew when the index has to be rebuilt.
        withUnsafeBytes(of: (log.salts, log.maxFrame, log.pageCount)) { bytes += $0.prefix(16) }
        withUnsafeBytes(of: log.frameChecksum) { bytes += $0 }
      } else if !status.isOlder(than: Self.clockDoubt) {
        return nil
      }
    }
    self.bytes = bytes
  }
}
