import Foundation
import ServerSentEvents

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// One connection.
extension EventStream {
  /// What is known of a connection.
  private struct Connection {
    let exchange: HTTPExchange
    var parser: EventParser
    /// When its head was here.
    var began: ContinuousClock.Instant?
    /// How long nothing may come now.
    var patience = EventStream.silentStart
    var isSilent = false
    /// The id at the last event. A shared stream ends by saying where to go on (`protocol.md` §7).
    var lastEvent: String

    mutating func watch(for limit: Duration) {
      patience = limit
      exchange.watch(for: limit)
    }
  }

  nonisolated(nonsending) mutating func connection(
    _ token: String?, _ heard: (News) -> Verdict
  ) async -> Ending {
    var fields = HTTPSession.fields(token)
    fields["Accept"] = "text/event-stream"
    fields["Cache-Control"] = "no-cache"
    if !lastEventID.isEmpty { fields["Last-Event-ID"] = lastEventID }
    pulse = Pulse()
    let exchange = session.stream(url, fields)
    defer { exchange.cancel() }
    var connection = Connection(
      exchange: exchange,
      parser: EventParser(lastEventID: lastEventID, maximumEventSize: maximumEventSize),
      lastEvent: lastEventID)
    connection.watch(for: Self.silentStart)
    for await piece in exchange.pieces {
      if Task.isCancelled { return .cancelled }
      switch piece {
      case .head(let head):
        switch Answer(head, wanting: "text/event-stream") {
        case .good:
          connection.began = .now
          await tokens?.proved()
          _ = heard(.opened)
        case .over: return .over
        case .foreign(let type):
          return .failed(.foreign(url, type: type, wanted: "text/event-stream"), wait: .zero)
        case .refused(let status): return .refused(await problem(status, of: exchange))
        case .later(let status, let wait):
          return .failed(await problem(status, of: exchange), wait: wait)
        }
      case .bytes(let data):
        if let ending = take(data, &connection, heard) { return ending }
      case .silence:
        if let ending = await wonder(&connection, fields, heard) { return ending }
      case .end(let error): return end(of: connection, error)
      }
    }
    return .cancelled
  }

  private mutating func take(
    _ data: Data, _ connection: inout Connection, _ heard: (News) -> Verdict
  ) -> Ending? {
    if connection.isSilent { _ = heard(.opened) }
    connection.isSilent = false
    var verdict = Verdict.goOn
    do {
      try connection.parser.parse(data) { event in
        guard case .goOn = verdict else { return }
        pulse.heard(event.type, at: .now)
        verdict = heard(event.type == "heartbeat" ? .caughtUp : .event(event))
        connection.lastEvent = event.lastEventID
        if case .goOn = verdict { lastEventID = event.lastEventID }
      }
    } catch {
      // It would be as large again.
      return .refused(
        RemoteRecordsError(
          .undecodable, "An event is too large",
          "it has more than \(maximumEventSize) bytes: ask for a window of the records",
          underlying: error))
    }
    switch verdict {
    case .goOn: break
    case .startOver: return .startOver
    case .refuse(let problem): return .refused(problem)
    }
    // A block may have an id only.
    lastEventID = connection.parser.lastEventID
    connection.watch(for: connection.parser.isWithinEvent ? Self.silentStart : pulse.silence)
    return nil
  }

  /// Looks into it when nothing comes.
  private nonisolated(nonsending) mutating func wonder(
    _ connection: inout Connection, _ fields: [String: String], _ heard: (News) -> Verdict
  ) async -> Ending? {
    let last = connection.exchange.lastArrival
    // What has come meanwhile waits to be read.
    if last + connection.patience > .now { return nil }
    let isStart = connection.patience == Self.silentStart
    if !isStart {
      connection.isSilent = true
      _ = heard(.silent(.silent(url)))
    } else if connection.began == nil {
      _ = heard(.waiting)
    }
    var isHeldBack: Bool?
    if let testBase {
      isHeldBack = await Selftest.isHeldBack(
        testBase, session, fields, within: isStart ? pulse.silence : Self.testTime)
    }
    if connection.exchange.lastArrival != last { return nil }
    if isHeldBack == true { return .heldBack }
    guard isStart else { return end(of: connection, URLError(.timedOut)) }
    // A query may take long.
    connection.watch(for: pulse.silence)
    return nil
  }

  private func end(of connection: Connection, _ error: (any Error)?) -> Ending {
    guard let began = connection.began else {
      return .failed(.unreachable(url, error ?? URLError(.badServerResponse)), wait: .zero)
    }
    let parser = connection.parser
    let isRotation = parser.lastEventID != connection.lastEvent
    return .lost(
      isRotation ? .rotated : error.map(Loss.broken) ?? .ended,
      life: isRotation ? Self.longLife : .now - began,
      // A server that says a day is not asked after one.
      retry: min(.milliseconds(parser.reconnectionTime ?? 0), backoff.longest),
      isAnnounced: parser.numberOfRetries > 1)
  }

  /// What a refusal says of itself.
  private nonisolated(nonsending) func problem(
    _ status: Int, of exchange: HTTPExchange
  ) async -> RemoteRecordsError {
    exchange.watch(for: Self.testTime)
    var body: [UInt8] = []
    reading: for await piece in exchange.pieces {
      switch piece {
      case .bytes(let data): body += data
      case .head, .silence, .end: break reading
      }
      if body.count > 65536 { break }
    }
    return RemoteRecordsError(status: status, body: body)
  }
}
