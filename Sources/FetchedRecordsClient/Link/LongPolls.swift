import Foundation
import ServerSentEvents

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Long polls (`protocol.md` §8), where something on the way holds streams back: one after another.
struct LongPolls {
  /// How long the server waits for a change, in seconds.
  private static let wait = 20
  /// After that an answer has been lost.
  private static let slack: Duration = .seconds(10)
  /// An answer without news that comes sooner is no answer of the server.
  private static let soon: Duration = .milliseconds(500)
  /// After that streams are tried again.
  private static let term: Duration = .seconds(600)

  enum End {
    case over
    /// It is time to try a stream.
    case stream
    /// The query is not there, or polls are not: a stream tells which.
    case missing
    case cancelled
  }

  let request: RemoteRequest
  let session: HTTPSession
  let tokens: TokenKeeper?
  /// The version that the next poll goes on after; empty: none.
  private(set) var version: String
  private var cursor: String?
  private var backoff: Backoff
  /// Whether what is shown is known to be the present.
  private var isLive = false
  private var hasFailed = false

  init(
    _ request: RemoteRequest, session: HTTPSession, tokens: TokenKeeper?, version: String,
    backoff: Backoff
  ) {
    self.backoff = backoff
    (self.request, self.session) = (request, session)
    (self.tokens, self.version) = (tokens, version)
  }

  /// Asks until it is over or the task is cancelled, or for ten minutes.
  ///
  /// What comes is told on the caller's actor.
  nonisolated(nonsending) mutating func run(
    _ heard: (EventStream.News) -> EventStream.Verdict
  ) async throws(RemoteRecordsError) -> End {
    let end = ContinuousClock.now + Self.term
    while !Task.isCancelled {
      if isLive, .now > end { return .stream }
      if let end = try await poll(heard) { return end }
    }
    return .cancelled
  }

  private nonisolated(nonsending) mutating func poll(
    _ heard: (EventStream.News) -> EventStream.Verdict
  ) async throws(RemoteRecordsError) -> End? {
    let began = ContinuousClock.now
    // On Linux the first, which does not wait, is for the connection what the HEAD of a stream is.
    let wait = isLive && !version.isEmpty ? Self.wait : 0
    let head: HTTPURLResponse
    let body: [UInt8]
    do {
      (head, body) = try await answer(wait)
    } catch {
      try await pause(error as? RemoteRecordsError, heard)
      return nil
    }
    switch Answer(head, wanting: "application/json") {
    case .good: break
    case .over: return .over
    case .foreign(let type):
      try await pause(
        .foreign(request.base, type: type, wanted: "application/json"), heard)
      return nil
    case .refused(404): return .missing
    case .refused(let status): throw RemoteRecordsError(status: status, body: body)
    // The query cannot be read; what is shown stays.
    case .later(500, let wait):
      hasFailed = true
      _ = heard(Self.event("fetchError", String(decoding: body, as: UTF8.self)))
      try await pause(nil, atLeast: wait, heard)
      return nil
    case .later(let status, let wait):
      try await pause(RemoteRecordsError(status: status, body: body), atLeast: wait, heard)
      return nil
    }
    let isEmpty = try await take(RawJSON(String(decoding: body, as: UTF8.self)).object, heard)
    if isEmpty, wait > 0, .now - began < Self.soon { try await pause(nil, heard) }
    return nil
  }

  private nonisolated(nonsending) func answer(_ wait: Int) async throws -> WholeAnswer {
    var items = [(name: "wait", value: "\(wait)")]
    if !version.isEmpty { items.append(("after", version)) }
    if let cursor { items.append(("cursor", cursor)) }
    return try await session.whole(
      request.address("changes", items), ["Accept": "application/json"], tokens: tokens,
      within: .seconds(wait) + Self.slack)
  }

  /// - Returns: whether there was nothing new.
  private nonisolated(nonsending) mutating func take(
    _ answer: [String: RawJSON], _ heard: (EventStream.News) -> EventStream.Verdict
  ) async throws(RemoteRecordsError) -> Bool {
    cursor = answer["cursor"]?.string
    _ = heard(.opened)
    let events = answer["events"]?.elements().map(\.object) ?? []
    if hasFailed { _ = heard(Self.event("recovered", "{}")) }
    hasFailed = false
    for event in events {
      switch heard(Self.event(event["event"]?.plain ?? "", event["data"]?.text ?? "")) {
      case .goOn: break
      case .refuse(let problem): throw problem
      case .startOver:
        (version, cursor, isLive) = ("", nil, false)
        try await pause(nil, heard)
        return false
      }
    }
    _ = heard(.caughtUp)
    version = answer["version"]?.string ?? ""
    isLive = true
    backoff.reset()
    return events.isEmpty
  }

  private static func event(_ type: String, _ data: String) -> EventStream.News {
    .event(ServerSentEvent(type: type, data: data))
  }

  private nonisolated(nonsending) mutating func pause(
    _ problem: RemoteRecordsError?, atLeast: Duration = .zero,
    _ heard: (EventStream.News) -> EventStream.Verdict
  ) async throws(RemoteRecordsError) {
    if Task.isCancelled { return }
    let delay = backoff.next(at: .now, atLeast: atLeast, random: .random(in: 0..<1))
    if let problem {
      isLive = false
      if case .refuse(let problem) = heard(.troubled(problem, again: delay)) { throw problem }
    }
    try? await Task.sleep(for: delay)
  }
}
