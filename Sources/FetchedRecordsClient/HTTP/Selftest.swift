import Foundation
import ServerSentEvents

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Whether anything on the way keeps bytes back: ticks that were sent apart come apart.
enum Selftest {
  /// Reads `…/v1/selftest`.
  ///
  /// - Returns: nil where that does not come.
  nonisolated(nonsending) static func isHeldBack(
    _ base: URL, _ session: HTTPSession, _ fields: [String: String], within limit: Duration
  ) async -> Bool? {
    let exchange = session.get(base.appending(path: "selftest"), fields)
    exchange.watch(for: limit)
    defer { exchange.cancel() }
    var ticks = Ticks()
    var parser = EventParser()
    for await piece in exchange.pieces {
      switch piece {
      case .head(let head) where head.statusCode != 200: return nil
      case .head: break
      case .bytes(let data): try? parser.parse(data) { ticks.heard($0, at: .now) }
      case .silence: return nil
      case .end(let error): return error == nil ? ticks.areHeldBack : nil
      }
    }
    return nil
  }

  /// When ticks came, and when they were sent.
  struct Ticks {
    private var first: ContinuousClock.Instant?
    private var lateness: Duration = .zero
    /// After the first.
    private var lastSent: Duration = .zero

    /// Held until the last was sent, they come together; nil: there were none.
    var areHeldBack: Bool? { first == nil ? nil : lateness < .zero - lastSent / 2 }

    mutating func heard(_ event: ServerSentEvent, at now: ContinuousClock.Instant) {
      guard event.type == "tick", let sent = RawJSON(event.data)["after"]?.int else { return }
      first = first ?? now
      lastSent = .milliseconds(sent)
      lateness = now - (first ?? now) - lastSent
    }
  }
}
