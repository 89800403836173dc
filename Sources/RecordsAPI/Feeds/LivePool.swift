import DequeModule
import FetchedRecords
import Synchronization

/// Things that live while somebody uses them, and for a while after.
///
/// Whoever asks for one that is being opened waits for it; nobody opens it twice. Where there is no
/// room for another, the one goes that nobody has used for longest.
final class LivePool<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  typealias Receiver = @Sendable (Result<Value, FetchFailure>) -> Void

  private enum Slot {
    case opening([Receiver])
    case live(Value, users: Int, idleSince: ContinuousClock.Instant)
  }

  private enum Step {
    case use(Value)
    case open(evicted: Value?)
    case wait
    case refuse
  }

  private struct Idle {
    let key: Key
    let since: ContinuousClock.Instant
  }

  private struct State {
    var slots: [Key: Slot] = [:]
    /// Every idle slot, that of longest standing first, among entries of slots that were used since.
    var idle: Deque<Idle> = []

    /// Amortised O(1): entries that no longer hold are at most as many as those that may.
    mutating func noteIdle(_ key: Key, since: ContinuousClock.Instant) {
      idle.append(Idle(key: key, since: since))
      guard idle.count > 2 * slots.count + 64 else { return }
      idle.removeAll { entry in
        guard case .live(_, users: 0, entry.since) = slots[entry.key] else { return true }
        return false
      }
    }
  }

  private let maximum: Int
  private let linger: Duration
  private let wasUsed: @Sendable (Value) -> Bool
  private let letGo: @Sendable (Value) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - maximum: how many live at the same time.
  ///   - linger: how long one lives without a user, unless its room is needed.
  ///   - wasUsed: whether one was used without being acquired since this was last asked.
  ///   - letGo: is called with each that is no longer live.
  init(
    maximum: Int, linger: Duration, wasUsed: @escaping @Sendable (Value) -> Bool = { _ in false },
    letGo: @escaping @Sendable (Value) -> Void
  ) {
    self.maximum = maximum
    self.linger = linger
    self.wasUsed = wasUsed
    self.letGo = letGo
  }

  /// Hands over the value of `key`, which its user gives back with ``release(_:of:)``.
  ///
  /// Amortised O(1).
  ///
  /// - Parameters:
  ///   - key: which one.
  ///   - makeRoom: is called where all are in use; returns whether that may have changed.
  ///   - open: makes it; called only where there is none, and calls back from any thread.
  ///   - body: is called at once where the value is live, and else where `open` calls back.
  func acquire(
    _ key: Key, makeRoom: () -> Bool = { false }, open: (@escaping Receiver) -> Void,
    _ body: @escaping Receiver
  ) {
    while true {
      switch state.withLock({ state in step(key, body, &state) }) {
      case .use(let value): return body(.success(value))
      case .wait: return
      case .open(let evicted):
        if let evicted { letGo(evicted) }
        return open { [self] result in finishOpening(key, with: result) }
      case .refuse:
        if makeRoom() { continue }
        return body(
          .failure(
            FetchFailure(
              kind: .busy, detail: "\(maximum) controllers are in use already: try again later")))
      }
    }
  }

  private func step(_ key: Key, _ body: @escaping Receiver, _ state: inout State) -> Step {
    switch state.slots[key] {
    case .live(let value, let users, let idleSince):
      state.slots[key] = .live(value, users: users + 1, idleSince: idleSince)
      return .use(value)
    case .opening(let waiting):
      state.slots[key] = .opening(waiting + [body])
      return .wait
    case nil:
      var evicted: Value?
      if state.slots.count >= maximum {
        evicted = takeIdle(&state)
        if evicted == nil { return .refuse }
      }
      state.slots[key] = .opening([body])
      return .open(evicted: evicted)
    }
  }

  private func finishOpening(_ key: Key, with result: Result<Value, FetchFailure>) {
    let waiting = state.withLock { state -> [Receiver] in
      guard case .opening(let waiting) = state.slots[key] else { return [] }
      state.slots[key] = (try? result.get()).map {
        .live($0, users: waiting.count, idleSince: .now)
      }
      return waiting
    }
    for body in waiting { body(result) }
  }

  /// Ends one use.
  func release(_ value: Value, of key: Key) {
    state.withLock { state in
      guard case .live(let live, let users, _) = state.slots[key], live === value else { return }
      let now = ContinuousClock.now
      state.slots[key] = .live(live, users: users - 1, idleSince: now)
      if users == 1 { state.noteIdle(key, since: now) }
    }
  }

  /// What is live now, and how many use it.
  var live: [(key: Key, value: Value, users: Int)] {
    state.withLock { state in
      state.slots.compactMap { key, slot in
        guard case .live(let value, let users, _) = slot else { return nil }
        return (key, value, users)
      }
    }
  }

  /// Lets go of what nobody has used for a while. Amortised O(1) for each.
  func sweep() {
    let limit = ContinuousClock.now - linger
    while let idle = state.withLock({ state in takeIdle(&state, before: limit) }) { letGo(idle) }
  }

  /// Lets go of the one that nobody has used for longest; returns whether there was one.
  func evict() -> Bool {
    guard let idle = state.withLock({ state in takeIdle(&state) }) else { return false }
    letGo(idle)
    return true
  }

  /// Takes out the one that nobody has used for longest, if that was before `limit`.
  private func takeIdle(
    _ state: inout State, before limit: ContinuousClock.Instant? = nil
  ) -> Value? {
    while let first = state.idle.first {
      if let limit, first.since >= limit { return nil }
      state.idle.removeFirst()
      guard case .live(let value, users: 0, first.since) = state.slots[first.key] else { continue }
      guard wasUsed(value) else {
        state.slots[first.key] = nil
        return value
      }
      let now = ContinuousClock.now
      state.slots[first.key] = .live(value, users: 0, idleSince: now)
      state.noteIdle(first.key, since: now)
    }
    return nil
  }
}
