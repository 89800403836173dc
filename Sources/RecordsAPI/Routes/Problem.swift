import FetchedRecords
import HTTPServer
import HTTPTypes

// Errors as clients see them: RFC 9457, `application/problem+json`; `detail` says what to do.
extension Problem: Error {
  static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }

  static func notFound(_ detail: String) -> Problem { Problem(.notFound, detail) }

  /// What a client is told of an error.
  init(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refused as RefusedMember: self = refused.problem
    default: self.init(.internalServerError, "\(error)")
    }
  }

  init(_ failure: FetchFailure) {
    switch failure.kind {
    case .busy, .hotJournal, .unavailable:
      // RFC 9110 §10.2.3; a lock is tried again several times a second.
      self.init(.serviceUnavailable, failure.detail, fields: [.retryAfter: "1"])
    case .noMemory:
      self.init(.serviceUnavailable, failure.detail, fields: [.retryAfter: "5"])
    case .tooLong, .tooLarge, .abandoned:
      // What is too much now may not be after the next commit.
      self.init(.serviceUnavailable, failure.detail, fields: [.retryAfter: "10"])
    case .exploration: self.init(.badRequest, failure.detail)
    case .query, .sections, .database: self.init(.internalServerError, failure.detail)
    }
  }
}
