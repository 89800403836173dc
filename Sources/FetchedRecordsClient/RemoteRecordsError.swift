public import Foundation

/// What is wrong with a query, its server or the way to it, in words for people.
public struct RemoteRecordsError: Error, Sendable {
  /// What kind of trouble it is.
  public enum Reason: Sendable, Equatable {
    /// The address is none of a query. For good.
    case address
    /// The server cannot be reached. It is asked on and on.
    case unreachable
    /// Something else answers in the server's place. It is asked on and on.
    case foreign
    /// Two heartbeats have not come. The server is asked again.
    case silent
    /// The server answers that it cannot, for now: 5xx, 408, 429. It is asked on and on.
    case busy
    /// The query cannot be read at present; the records stay, and the stream goes on.
    case failed
    /// The server refuses the request, and would again: 4xx. Other parameters may be allowed.
    case refused
    /// Nobody is known by the token, and there is no other one: 401. For good.
    case signedOut
    /// Who asks may not read this: 403. For good.
    case forbidden
    /// The token function threw. It is asked again.
    case token
    /// A record is none of the type that the program wants: it is tried again when the records change.
    /// Or an event is larger than 256 MiB: a window of the records may be read.
    case undecodable
  }

  /// What kind of trouble it is.
  public let reason: Reason
  /// Of the server's answer, if there was one.
  public let status: Int?
  /// In a few words.
  public let title: String
  /// What to do.
  public let detail: String
  /// What was thrown, if anything was.
  public let underlyingError: (any Error)?

  init(
    _ reason: Reason, status: Int? = nil, _ title: String, _ detail: String,
    underlying: (any Error)? = nil
  ) {
    (self.reason, self.status, self.title, self.detail) = (reason, status, title, detail)
    underlyingError = underlying
  }

  /// Of a `fetchError` (`protocol.md` §4): 401 and 403 end the stream.
  init(problem: RawJSON) {
    let members = problem.object
    let status = members["status"]?.int
    let reason = Reason(status: status ?? 500)
    self.init(
      reason.isForGood ? reason : .failed, status: status,
      members["title"]?.plain ?? "The query failed",
      members["detail"]?.plain ?? "")
  }

  /// Whether it stays so whatever is asked for.
  var isForGood: Bool { reason.isForGood }
}

extension RemoteRecordsError.Reason {
  /// Of an answer that is no good one.
  init(status: Int) {
    self =
      switch status {
      case 401: .signedOut
      case 403: .forbidden
      // Too slow, and too many.
      case 408, 429: .busy
      case 400..<500: .refused
      default: .busy
      }
  }

  fileprivate var isForGood: Bool { [.address, .signedOut, .forbidden].contains(self) }
}

extension RemoteRecordsError: CustomStringConvertible, LocalizedError {
  /// The title and the detail.
  public var description: String { detail.isEmpty ? title : "\(title): \(detail)" }

  /// The same.
  public var errorDescription: String? { description }
}
