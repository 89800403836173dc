import CCurl
import Foundation
import Locks
import ServerSentEvents

/// Somebody who follows a query as a browser's EventSource does: when a stream ends or breaks, the
/// visitor comes back after the time that the server asked for, with the last id.
///
/// The query has one record, whose `score` every commit makes larger by one. What a visitor is shown
/// must follow what was shown before, in versions and in scores: then nothing was lost, and nothing
/// came twice.
final class Visitor: Sendable {
  struct State {
    /// What is shown.
    var score: Int?
    /// Those that were told, in their order.
    var scores: [Int] = []
    var connections = 0
    var snapshots = 0
    /// What must not happen; nil: it has not.
    var problem: String?

    /// Whether a stream of the server's has begun and not ended: that of a cache that cannot reach the
    /// server asks for another time.
    var isServed: Bool { !isWaiting && parser.reconnectionTime == 1000 }

    fileprivate var parser = EventParser()
    /// The score that a change set under way leads to.
    fileprivate var next: Int?
    fileprivate var status = ResponseHead()
    /// Whether it is between two streams.
    fileprivate var isWaiting = false
    fileprivate var isPaused = false
    fileprivate var isGone = false
    /// How often it has set out: a stream is asked for by the last attempt only, so that there is one.
    fileprivate var attempts = 0

    fileprivate mutating func nextAttempt() -> Int {
      attempts += 1
      return attempts
    }
  }

  private let url: String
  private let fields: [String]
  private let state = Mutex(State())

  init(_ url: String, fields: [String] = []) {
    self.url = url
    self.fields = fields
    connect(state.withLock { $0.nextAttempt() })
  }

  func read<T>(_ body: (State) -> T) -> T { state.withLock { body($0) } }

  var score: Int? { read(\.score) }

  // MARK: - What visitors do

  /// Closes the connection in the middle of whatever it is, and comes back.
  func leaveAndReturn() {
    let attempt = state.withLock { $0.nextAttempt() }
    hangUp()
    connect(attempt)
  }

  /// Closes the connection for good.
  func leave() {
    state.withLock { $0.isGone = true }
    hangUp()
  }

  /// Reads nothing, until it goes on.
  func pause() { state.withLock { $0.isPaused = true } }

  func goOn() {
    state.withLock { $0.isPaused = false }
    CurlLoop.shared.forEach { [self] handle in
      if handle.owner === self { curl_easy_pause(handle.pointer, CURLPAUSE_CONT) }
    }
  }

  private func hangUp() { CurlLoop.shared.remove { [self] in $0.owner === self } }

  // MARK: - Streams

  private func connect(_ attempt: Int) {
    CurlLoop.shared.add { [self] in
      let id = state.withLock { state -> String? in
        guard state.attempts == attempt else { return nil }
        state.connections += 1
        state.isWaiting = false
        state.status = ResponseHead()
        // What was not whole is told again.
        state.next = nil
        state.parser = EventParser(lastEventID: state.parser.lastEventID)
        return state.parser.lastEventID
      }
      guard let id else { return nil }
      let handle = CurlHandle()
      handle.owner = self
      handle.set(CURLOPT_URL, url)
      handle.set(CURLOPT_FRESH_CONNECT, 1)
      handle.set(CURLOPT_FORBID_REUSE, 1)
      handle.setFields(
        ["Accept: text/event-stream", "Cache-Control: no-cache"] + fields
          + (id.isEmpty ? [] : ["Last-Event-ID: \(id)"]))
      handle.onHead = { [self] line in state.withLock { $0.status.append(line: line) } }
      handle.onBody = { [self] bytes in
        state.withLock { state in
          if state.isPaused { return false }
          state.receive(bytes)
          return true
        }
      }
      return CurlLoop.Transfer(handle: handle) { [self] _ in comeBack(after: attempt) }
    }
  }

  private func comeBack(after attempt: Int) {
    let delay = state.withLock { state -> Int? in
      state.isWaiting = true
      if state.status.isComplete, state.status.status != 200 {
        // An EventSource gives up.
        state.problem = state.problem ?? "\(state.status.statusLine)"
      }
      guard !state.isGone, state.problem == nil else { return nil }
      return Int(state.parser.reconnectionTime ?? 1000)
    }
    guard let delay else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
      let next = self?.state.withLock { state in
        state.isGone || state.attempts != attempt ? nil : state.nextAttempt()
      }
      if let self, let next = next ?? nil { connect(next) }
    }
  }
}

extension Visitor.State {
  fileprivate mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    guard status.status == 200 else { return }
    var events: [ServerSentEvent] = []
    do {
      // The id before an event is that of the one before it, or of a block between them.
      try parser.parse(bytes) { events.append($0) }
    } catch {
      problem = "\(error)"
    }
    for event in events where problem == nil { take(event) }
  }

  private mutating func take(_ event: ServerSentEvent) {
    // In debug builds Foundation's parser is faster than one of these tests, and there are hundreds.
    let json = try? JSONSerialization.jsonObject(with: Data(event.data.utf8))
    guard let data = json as? [String: Any] else { return fail("no JSON", event) }
    switch event.type {
    case "snapshot":
      snapshots += 1
      guard let records = data["records"] as? [[String: Any]], let first = records.first else {
        return fail("no record", event)
      }
      show(Self.score(of: first), event)
    case "willChange":
      // It carries no id: what stands there is what was shown before.
      guard data["from"] as? String == event.lastEventID else {
        return fail("it does not follow \(event.lastEventID)", event)
      }
    case "change":
      guard let old = (data["changes"] as? [String: Any])?["score"] as? Int, old == score else {
        return fail("it does not follow the score \(score ?? -1)", event)
      }
      next = Self.score(of: data)
    case "didChange":
      guard data["version"] as? String == event.lastEventID else { return fail("its id", event) }
      show(next, event)
    default: fail("it is unexpected", event)
    }
  }

  private static func score(of data: [String: Any]) -> Int? {
    (data["record"] as? [String: Any])?["score"] as? Int
  }

  private mutating func show(_ new: Int?, _ event: ServerSentEvent) {
    guard let new, new > score ?? -1 else { return fail("the score is \(score ?? -1)", event) }
    score = new
    scores.append(new)
    next = nil
  }

  private mutating func fail(_ what: String, _ event: ServerSentEvent) {
    problem = problem ?? "\(what): \(event.type) \(event.data.prefix(300)), after \(scores)"
  }
}
