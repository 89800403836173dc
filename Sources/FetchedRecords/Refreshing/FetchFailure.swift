import ChangeCapture
import GRDB
import OrderedResults
package import QueryAnalysis

/// Why a query could not be brought up to date. The observation goes on: the next change set is
/// relative to the last good result.
package struct FetchFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// A writer holds the lock; trying again helps.
    case busy
    /// A writer was killed in the middle of a transaction, and only one that may write can undo it.
    case hotJournal
    /// The database file is not there or cannot be read.
    case unavailable
    /// The query does not fit the schema any more.
    case query
    /// The sections do not come in contiguous runs.
    case sections
    /// It takes longer than the server grants a statement.
    case tooLong
    /// The result takes more than the server grants one query.
    case tooLarge
    /// What others use leaves no room for the result.
    case noMemory
    /// SQLite cannot do what a statement says that somebody explores by.
    case exploration
    /// Nobody waits for the result any more.
    case abandoned
    /// Anything else that SQLite reports.
    case database
  }

  /// Whether what was read last is what there still is.
  package var leavesLastResult: Bool { kind == .busy || kind == .hotJournal }

  /// Whether it may be over though nothing is committed: others leave the processor to the query again,
  /// or there is room on the disk.
  var mayPass: Bool {
    switch kind {
    case .tooLong, .unavailable: true
    case .database:
      [.SQLITE_FULL, .SQLITE_NOMEM].contains((cause as? DatabaseError)?.resultCode)
    case .busy, .hotJournal, .query, .sections, .tooLarge, .noMemory, .exploration, .abandoned:
      false
    }
  }

  /// Whether what is tried again at once would keep others waiting in vain.
  var isTriedLater: Bool { kind == .tooLong || kind == .noMemory }

  package let kind: Kind
  package let detail: String
  /// What was thrown, if it was something else.
  package let cause: (any Error)?

  package var description: String { detail }

  package init(kind: Kind, detail: String, cause: (any Error)? = nil) {
    self.kind = kind
    self.detail = detail
    self.cause = cause
  }

  package static func == (left: FetchFailure, right: FetchFailure) -> Bool {
    left.kind == right.kind && left.detail == right.detail
  }

  /// What any error of a fetch means.
  init(any error: any Error) {
    switch error {
    case let failure as FetchFailure: self = failure
    case let error as DatabaseError: self.init(error)
    case let problems as QueryProblems: self.init(problems)
    default: self.init(kind: .database, detail: "\(error)", cause: error)
    }
  }

  init(_ error: DatabaseError) {
    let message = error.message ?? "no message"
    if error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
      self.init(
        kind: .hotJournal,
        detail: "there is a hot journal. \(DatabaseAccessError.hotJournalAdvice)",
        cause: error)
      return
    }
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        kind: .busy,
        detail: "\(message): a writer holds the lock of the database; it is tried again by itself",
        cause: error)
    case .SQLITE_CANTOPEN, .SQLITE_READONLY:
      // https://www.sqlite.org/wal.html#read_only_databases
      self.init(
        kind: .unavailable,
        detail: """
          \(message): check that the database file is there and may be read; in write-ahead mode even \
          a reader writes the file beside it that ends in -shm, or makes it: run the server as the \
          user who owns them
          """,
        cause: error)
    case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_IOERR:
      self.init(
        kind: .unavailable,
        detail: "\(message): check that the database file is there, whole and readable",
        cause: error)
    default:
      self.init(
        kind: .database,
        detail: """
          \(message) (SQLite code \(error.extendedResultCode.rawValue)): mend the query, or the values that \
          it reads
          """,
        cause: error)
    }
  }

  /// Another statement has failed in a way that ends a transaction.
  static let transactionEnded = FetchFailure(
    kind: .unavailable,
    detail: "another query met an error that ends a transaction: it is tried again by itself")

  /// The same where it is the statement's own fault, and nobody declares that: who typed it in is told.
  func of(_ definition: QueryDefinition) -> FetchFailure {
    let codes: [ResultCode] = [.SQLITE_ERROR, .SQLITE_MISMATCH]
    guard definition.isExplored, kind == .database, let error = cause as? DatabaseError,
      codes.contains(error.resultCode)
    else { return self }
    return FetchFailure(
      kind: .exploration,
      detail: "\(error.message ?? "it fails"): mend the SELECT so that SQLite can run it",
      cause: error)
  }

  init(brokenSection error: SectionError, query: Query) {
    self.init(
      kind: .sections,
      detail: """
        record \(error.offset) (\(error.keyText)) returns to the section \(error.name.text) of \
        record \(error.firstOffset): order the query by its section first, ORDER BY \
        \(query.definition.section ?? "section"), …
        """)
  }

  package init(_ problems: QueryProblems) {
    self.init(
      kind: .query,
      detail: problems.problems.map { "\($0.message): \($0.mend)" }.joined(separator: "; "))
  }
}

extension SectionError {
  fileprivate var keyText: String {
    guard let key, !key.isEmpty else { return "no key" }
    return "key " + key.map(\.text).joined(separator: ", ")
  }
}
