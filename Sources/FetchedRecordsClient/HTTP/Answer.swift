import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What the head of an answer means for whoever asked for a stream or a poll.
enum Answer: Sendable {
  case good
  /// 204: there is nothing more to come (WHATWG HTML §9.2.3).
  case over
  /// It is no use to ask for the same again.
  case refused(status: Int)
  /// It is worth to ask again, after so long at least.
  case later(status: Int, wait: Duration)
  /// Another than a didchange server has answered, with a body of this type.
  case foreign(type: String)

  /// A good answer has the media type that is wanted.
  init(_ head: HTTPURLResponse, wanting type: String) {
    let status = head.statusCode
    switch status {
    case 204: self = .over
    case 200..<300:
      let found = head.value(forHTTPHeaderField: "Content-Type") ?? ""
      self = found.lowercased().hasPrefix(type) ? .good : .foreign(type: found)
    case _ where RemoteRecordsError.Reason(status: status) != .busy:
      self = .refused(status: status)
    default:
      let seconds = head.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) } ?? 0
      self = .later(status: status, wait: .seconds(min(max(0, seconds), 3600)))
    }
  }
}

extension RemoteRecordsError {
  /// What an answer says that is no good one; its body is `application/problem+json` (RFC 9457) where it
  /// is the server's own.
  init(status: Int, body: [UInt8]) {
    let problem = RawJSON(String(decoding: body, as: UTF8.self)).object
    self.init(
      Reason(status: status), status: status,
      problem["title"]?.plain ?? "The server answers \(status)", problem["detail"]?.plain ?? "")
  }

  static func foreign(_ url: URL, type: String, wanted: String) -> RemoteRecordsError {
    RemoteRecordsError(
      .foreign, "This is no didchange server",
      "\(url.absoluteString) gave \(type.isEmpty ? "something without a type" : type) in place of \(wanted)"
    )
  }

  static func unreachable(_ url: URL, _ error: any Error) -> RemoteRecordsError {
    let isLate = (error as? URLError)?.code == .timedOut
    return RemoteRecordsError(
      .unreachable, "The server cannot be reached",
      "\(url.authority) does not answer \(isLate ? "in time" : "(\(error.localizedDescription))"): "
        + "is it up, and the address right?", underlying: error)
  }

  static func silent(_ url: URL) -> RemoteRecordsError {
    RemoteRecordsError(
      .silent, "The server is silent",
      "\(url.authority) has missed two heartbeats: it is asked again")
  }

  static func token(_ error: any Error) -> RemoteRecordsError {
    error as? RemoteRecordsError
      ?? RemoteRecordsError(
        .token, "The token function failed", error.localizedDescription, underlying: error)
  }
}
