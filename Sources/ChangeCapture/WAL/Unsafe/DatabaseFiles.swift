import GRDB
import GRDBSQLite

/// SQLite's own handles of a connection's main database file and of its log.
///
/// Everything is read through them. An own descriptor would be the end of SQLite's locks: closing
/// any descriptor of a file drops all POSIX locks that the process holds on it
/// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
///
/// The handles belong to the connection. A reader of changes asks for them anew in each look, so
/// that none outlives its file; a ``WatchConnection`` has a connection to itself and keeps them as
/// long.
struct DatabaseFiles {
  // `sqlite3_file` objects that live inside the connection's pager; used within one transaction, or
  // while nobody else uses the connection: the pager neither opens nor closes them meanwhile.
  private let database: UnsafeMutablePointer<sqlite3_file>
  private let journal: UnsafeMutablePointer<sqlite3_file>?

  enum File { case database, log }

  init(of connection: OpaquePointer) throws(CaptureDoubt) {
    guard let database = Self.handle(SQLITE_FCNTL_FILE_POINTER, of: connection) else {
      throw .noFile
    }
    self.database = database
    journal = Self.handle(SQLITE_FCNTL_JOURNAL_POINTER, of: connection)
  }

  /// nil: there is none, or it is not open (a file that is not open has no methods).
  private static func handle(
    _ which: Int32, of connection: OpaquePointer
  ) -> UnsafeMutablePointer<sqlite3_file>? {
    var handle: UnsafeMutablePointer<sqlite3_file>?
    // The operation stores a `sqlite3_file*` where the argument points
    // (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
    guard sqlite3_file_control(connection, "main", which, &handle) == SQLITE_OK,
      let handle, handle.pointee.pMethods != nil
    else { return nil }
    return handle
  }

  /// Whether SQLite has a journal open; in write-ahead mode that is the log.
  var hasJournal: Bool { journal != nil }

  /// Fills the whole of `buffer` from a file; what is behind the file's end reads as zeros.
  ///
  /// - returns: false where the file ended before the buffer did.
  @discardableResult
  func read(
    _ file: File, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CaptureDoubt) -> Bool {
    guard let handle = file == .database ? database : journal,
      let read = handle.pointee.pMethods?.pointee.xRead, let count = Int32(exactly: buffer.count)
    else { throw .noFile }
    // The buffer has room for `count` bytes; SQLite fills all of them, with zeros at a short read
    // (https://www.sqlite.org/c3ref/io_methods.html).
    switch read(handle, buffer.baseAddress, count, offset) {
    case SQLITE_OK: return true
    case Self.shortRead: return false
    default: throw .unreadablePage
    }
  }

  /// SQLITE_IOERR_SHORT_READ, a macro that is not imported.
  private static let shortRead = SQLITE_IOERR | 2 << 8

  func databaseSize() throws(CaptureDoubt) -> Int64 {
    var size: sqlite3_int64 = 0
    guard let fileSize = database.pointee.pMethods?.pointee.xFileSize,
      fileSize(database, &size) == SQLITE_OK
    else { throw .unreadablePage }
    return size
  }

  /// One region of the shared wal-index, where it exists.
  ///
  /// Must only be asked for of a database in write-ahead mode: it would make the file.
  func indexRegion(_ region: Int, size: Int) -> UnsafeRawPointer? {
    guard let methods = database.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap, let region = Int32(exactly: region)
    else { return nil }
    var pointer: UnsafeMutableRawPointer?
    // SQLite keeps the mapping until the connection leaves the log; 0: do not extend the file.
    let code = map(database, region, Int32(size), 0, &pointer)
    guard code == SQLITE_OK || code == SQLITE_READONLY else { return nil }
    return pointer.map { UnsafeRawPointer($0) }
  }

  /// Orders this thread's reads of the wal-index before it against those after it.
  func indexBarrier() {
    database.pointee.pMethods?.pointee.xShmBarrier?(database)
  }
}
