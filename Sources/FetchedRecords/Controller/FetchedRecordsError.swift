import OrderedResults

/// Why a controller cannot fetch, in words that say what to do.
///
/// Errors of SQLite come as GRDB's `DatabaseError`, errors of a record's `init(row:)` and of
/// closures as they were thrown.
public struct FetchedRecordsError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong.
  public enum Kind: Sendable {
    /// The request does not fit the schema, or is of a kind that cannot be followed.
    case request
    /// The records of a section do not stand together.
    case sections
    /// The controller was used inside a transaction that is not over yet.
    case transaction
    /// The database cannot be read now.
    case unavailable
  }

  /// What went wrong.
  public let kind: Kind
  /// What happened, and what mends it.
  public let message: String

  /// The message.
  public var description: String { message }

  init(kind: Kind, message: String) {
    self.kind = kind
    self.message = message
  }

  init(_ failure: FetchFailure) {
    let kind: Kind =
      switch failure.kind {
      case .query, .exploration: .request
      case .sections: .sections
      case .busy, .hotJournal, .unavailable, .tooLong, .tooLarge, .noMemory, .abandoned, .database:
        .unavailable
      }
    self.init(kind: kind, message: failure.detail)
  }

  /// What was thrown, as a user of the library knows it.
  static func publicError(_ error: any Error) -> any Error {
    guard let failure = error as? FetchFailure else { return error }
    return failure.cause ?? FetchedRecordsError(failure)
  }
}
