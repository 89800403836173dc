import FetchedRecords
import Synchronization

/// Things that live while somebody uses them, and for a while after.
///
/// Whoever asks for one that is being opened waits for it; nobody opens it twice.
final class LivePool<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  typealias Receiver = @Sendable (Result<Value, FetchFailure>) -> Void

  private enum Slot {
    case opening([Receiver])
    case live(Value, users: Int, idleSince: ContinuousClock.Instant)
  }

  private enum Step {
    case use(Value)
    case open
    case wait
    case refuse
  }

  private let maximum: Int
  private let linger: Duration
  private let slots = Mutex<[Key: Slot]>([:])

  init(maximum: Int, linger: Duration) {
    self.maximum = maximum
    self.linger = linger
  }

  /// Hands over the value of `key`, which its user gives back with ``release(_:of:)``.
  ///
  /// - Parameters:
  ///   - key: which one.
  ///   - open: makes it; called only where there is none, and calls back from any thread.
  ///   - body: is called at once where the value is live, and else where `open` calls back.
  func acquire(_ key: Key, open: (@escaping Receiver) -> Void, _ body: @escaping Receiver) {
    switch slots.withLock({ slots in step(key, body, &slots) }) {
    case .use(let value): body(.success(value))
    case .wait: break
    case .open: open { [self] result in finishOpening(key, with: result) }
    case .refuse:
      body(
        .failure(
          FetchFailure(
            kind: .busy, detail: "\(maximum) controllers are live already: try again later")))
    }
  }

  private func step(_ key: Key, _ body: @escaping Receiver, _ slots: inout [Key: Slot]) -> Step {
    switch slots[key] {
    case .live(let value, let users, let idleSince):
      slots[key] = .live(value, users: users + 1, idleSince: idleSince)
      return .use(value)
    case .opening(let waiting):
      slots[key] = .opening(waiting + [body])
      return .wait
    case nil where slots.count >= maximum:
      return .refuse
    case nil:
      slots[key] = .opening([body])
      return .open
    }
  }

  private func finishOpening(_ key: Key, with result: Result<Value, FetchFailure>) {
    let waiting = slots.withLock { slots -> [Receiver] in
      guard case .opening(let waiting) = slots[key] else { return [] }
      slots[key] = (try? result.get()).map { .live($0, users: waiting.count, idleSince: .now) }
      return waiting
    }
    for body in waiting { body(result) }
  }

  /// Ends one use.
  func release(_ value: Value, of key: Key) {
    slots.withLock { slots in
      guard case .live(let live, let users, _) = slots[key], live === value else { return }
      slots[key] = .live(live, users: users - 1, idleSince: .now)
    }
  }

  /// What is live now, and how many use it.
  var live: [(key: Key, value: Value, users: Int)] {
    slots.withLock { slots in
      slots.compactMap { key, slot in
        guard case .live(let value, let users, _) = slot else { return nil }
        return (key, value, users)
      }
    }
  }

  /// Takes out what nobody has used for a while.
  ///
  /// - Parameter wasUsed: whether it was used without being acquired since it was last asked.
  /// - Returns: what is no longer live.
  func takeIdle(unless wasUsed: (Value) -> Bool) -> [Value] {
    let now = ContinuousClock.now
    return slots.withLock { slots in
      let idle = slots.compactMap { key, slot -> (Key, Value)? in
        guard case .live(let value, users: 0, let since) = slot else { return nil }
        if wasUsed(value) {
          slots[key] = .live(value, users: 0, idleSince: now)
          return nil
        }
        return since < now - linger ? (key, value) : nil
      }
      for (key, _) in idle { slots[key] = nil }
      return idle.map(\.1)
    }
  }
}
