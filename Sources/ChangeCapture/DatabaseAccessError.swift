package import GRDB

/// Why a database cannot be read, and what would mend it.
package struct DatabaseAccessError: Error, Sendable, Equatable {
  package var path: String
  /// SQLite's extended result code (https://www.sqlite.org/rescode.html).
  package var code: ResultCode
  /// What SQLite said.
  package var message: String
  /// What to do about it.
  package var advice: String

  /// Explains an error that GRDB threw while it opened or read the database at `path`.
  package init(_ error: any Error, path: String) {
    let error = error as? DatabaseError
    let directory = DatabaseLocation(resolving: path)?.directory
    let file = FileStatus(path: path)
    self.init(
      path: path, code: error?.extendedResultCode ?? .SQLITE_ERROR, message: error?.message ?? "",
      surroundings: Surroundings(
        directory: directory,
        isDirectoryWritable: directory.map(OperatingSystem.isWritable(directory:)) ?? false,
        fileExists: file != nil, isFile: file?.isRegular ?? true))
  }

  /// What the advice depends on beyond the code.
  struct Surroundings {
    /// nil: it does not exist.
    var directory: String?
    var isDirectoryWritable: Bool
    var fileExists: Bool
    /// Whether it is a regular one.
    var isFile = true
  }

  init(path: String, code: ResultCode, message: String, surroundings: Surroundings) {
    self.path = path
    self.code = code
    self.message = message
    advice = Self.advice(code, surroundings)
  }

  /// https://www.sqlite.org/rescode.html#readonly_rollback
  package static let hotJournalAdvice = """
    A writer was killed in the middle of a transaction, and only a connection that may write can \
    undo it. Open the database once with its application, or with: sqlite3 FILE "SELECT 1 FROM \
    sqlite_schema"
    """

  private static func advice(_ code: ResultCode, _ around: Surroundings) -> String {
    guard let directory = around.directory else {
      return "The directory does not exist, or may not be reached."
    }
    if !around.fileExists { return "The file does not exist, or may not be reached." }
    if !around.isFile { return "A database is a regular file: put it there." }
    switch code {
    case .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY:
      return hotJournalAdvice
    case .SQLITE_CANTOPEN, .SQLITE_READONLY_CANTINIT, .SQLITE_READONLY_DIRECTORY,
      .SQLITE_READONLY_CANTLOCK:
      // https://www.sqlite.org/wal.html#read_only_databases
      return around.isDirectoryWritable
        ? """
        The file and those beside it (-wal, -shm) must be readable, and a descriptor be free for \
        each (ulimit -n).
        """
        : """
        A database in write-ahead mode needs the files -wal and -shm beside it, even to be read. \
        They cannot be made in \(directory): allow writing there, or keep another connection to \
        the database open.
        """
    case .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP, .SQLITE_IOERR_WRITE:
      return "There may be no room on the disk of \(directory), where the file -shm is made."
    default: break
    }
    switch code.primaryResultCode {
    case .SQLITE_NOTADB:
      return "The file is not an SQLite database, or it is encrypted."
    case .SQLITE_CORRUPT:
      return "Check it with: sqlite3 FILE \"PRAGMA integrity_check\", or restore a copy."
    case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_IOERR:
      return "The file and its directory \(directory) must be readable."
    case .SQLITE_BUSY:
      return "Another process keeps it locked (PRAGMA locking_mode=EXCLUSIVE?)."
    default:
      return "See https://www.sqlite.org/rescode.html for the code."
    }
  }
}

extension DatabaseAccessError: CustomStringConvertible {
  package var description: String { "cannot read the database \(path): \(reason)" }

  /// Without the path, for those who need not know it.
  package var reason: String { "\(message) (SQLite \(code.rawValue)). \(advice)" }
}
