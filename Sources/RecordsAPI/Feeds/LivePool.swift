import DequeModule
import FetchedRecords
import Locks

/// Things that live while somebody uses them, and for a while after.
///
/// Whoever asks for one that is being opened waits for it; nobody opens it twice. Where there is no
/// room for another, the one goes that nobody has used for longest.
final class LivePool<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
  typealias Receiver = @Sendable (Result<Value, FetchFailure>) -> Void

  private enum Slot {
    case opening(Waiting)
    case live(Value, users: Int, idleSince: ContinuousClock.Instant)
  }

  /// Those who wait for one that is being opened.
  private struct Waiting {
    /// That of the first of them: names this opening among those of the same key.
    let number: Int
    let wish: Wish
    var receivers: [Int: Receiver] = [:]
  }

  private enum Step {
    case use(Value)
    case open(Wish, number: Int, evicted: Value?)
    case wait(number: Int)
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
    /// Of these the last that are a burden.
    var burdens: Deque<Idle> = []
    private var lastNumber = 0

    mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

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
  private let mostBurdens: Int
  private let isBurden: @Sendable (Value) -> Bool
  private let wasUsed: @Sendable (Value) -> Bool
  private let letGo: @Sendable (Value) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - maximum: how many live at the same time.
  ///   - linger: how long one lives without a user, unless its room is needed.
  ///   - mostBurdens: how many without a user live of those that are a burden, at most.
  ///   - isBurden: whether one costs something as long as it lives, used or not.
  ///   - wasUsed: whether one was used without being acquired since this was last asked.
  ///   - letGo: is called with each that is no longer live.
  init(
    maximum: Int, linger: Duration, mostBurdens: Int = .max,
    isBurden: @escaping @Sendable (Value) -> Bool = { _ in false },
    wasUsed: @escaping @Sendable (Value) -> Bool = { _ in false },
    letGo: @escaping @Sendable (Value) -> Void
  ) {
    self.maximum = maximum
    self.linger = linger
    self.mostBurdens = mostBurdens
    self.isBurden = isBurden
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
  ///   - open: makes it; called only where there is none, and calls back from any thread. The wish
  ///     is abandoned when all who wait have given up.
  ///   - body: is called once: at once where the value is live, and else where `open` calls back.
  /// - Returns: what gives up waiting; nil: there is nothing to wait for.
  @discardableResult
  func acquire(
    _ key: Key, makeRoom: () -> Bool = { false }, open: (Wish, @escaping Receiver) -> Void,
    _ body: @escaping Receiver
  ) -> (@Sendable () -> Void)? {
    while true {
      switch state.withLock({ state in step(key, body, &state) }) {
      case .use(let value):
        body(.success(value))
        return nil
      case .wait(let number): return { [self] in giveUp(key, number) }
      case .open(let wish, let number, let evicted):
        if let evicted { letGo(evicted) }
        open(wish) { [self] result in finishOpening(key, number, with: result) }
        return { [self] in giveUp(key, number) }
      case .refuse:
        if makeRoom() { continue }
        body(
          .failure(
            FetchFailure(
              kind: .busy,
              detail: "\(maximum) live queries are in use already, the most that "
                + "`limits: controllers` grants: try again later")))
        return nil
      }
    }
  }

  /// One that waits does so no longer; where it was the last, what is being opened is let go.
  private func giveUp(_ key: Key, _ number: Int) {
    let (receiver, wish) = state.withLock { state -> (Receiver?, Wish?) in
      guard case .opening(var waiting) = state.slots[key] else { return (nil, nil) }
      let receiver = waiting.receivers.removeValue(forKey: number)
      guard receiver != nil, waiting.receivers.isEmpty else {
        state.slots[key] = .opening(waiting)
        return (receiver, nil)
      }
      state.slots[key] = nil
      return (receiver, waiting.wish)
    }
    wish?.abandon()
    receiver?(.failure(FetchFailure(kind: .abandoned, detail: "nobody waits for the result")))
  }

  private func step(_ key: Key, _ body: @escaping Receiver, _ state: inout State) -> Step {
    switch state.slots[key] {
    case .live(let value, let users, let idleSince):
      state.slots[key] = .live(value, users: users + 1, idleSince: idleSince)
      return .use(value)
    case .opening(var waiting):
      let number = state.nextNumber()
      waiting.receivers[number] = body
      state.slots[key] = .opening(waiting)
      return .wait(number: number)
    case nil:
      var evicted: Value?
      if state.slots.count >= maximum {
        evicted = takeIdle(&state)
        if evicted == nil { return .refuse }
      }
      let number = state.nextNumber()
      let waiting = Waiting(number: number, wish: Wish(), receivers: [number: body])
      state.slots[key] = .opening(waiting)
      return .open(waiting.wish, number: number, evicted: evicted)
    }
  }

  private func finishOpening(
    _ key: Key, _ number: Int, with result: Result<Value, FetchFailure>
  ) {
    let value = try? result.get()
    let receivers = state.withLock { state -> [Receiver]? in
      guard case .opening(let waiting) = state.slots[key], waiting.number == number else {
        return nil
      }
      state.slots[key] = value.map {
        .live($0, users: waiting.receivers.count, idleSince: .now)
      }
      return waiting.receivers.sorted { $0.key < $1.key }.map(\.value)
    }
    if let receivers {
      for body in receivers { body(result) }
    } else if let value {
      // All who waited for it have given up.
      letGo(value)
    }
  }

  /// Whether the value of `key` can be had at once.
  func isLive(_ key: Key) -> Bool { live(key) != nil }

  /// The value of `key`, if it can be had at once; nobody uses it by that.
  func live(_ key: Key) -> Value? {
    state.withLock { state in
      if case .live(let value, _, _) = state.slots[key] { value } else { nil }
    }
  }

  /// Ends one use.
  ///
  /// - Parameters:
  ///   - value: what was used.
  ///   - key: whose it is.
  ///   - lingers: whether somebody may want it again soon; else it is let go with its last use.
  func release(_ value: Value, of key: Key, lingers: Bool = true) {
    let isBurden = isBurden(value)
    let over = state.withLock { state -> Value? in
      guard case .live(let live, let users, _) = state.slots[key], live === value else {
        return nil
      }
      if users == 1, !lingers {
        state.slots[key] = nil
        return value
      }
      let now = ContinuousClock.now
      state.slots[key] = .live(live, users: users - 1, idleSince: now)
      if users == 1 { state.noteIdle(key, since: now) }
      guard users == 1, isBurden else { return nil }
      state.burdens.append(Idle(key: key, since: now))
      return state.burdens.count > mostBurdens ? takeBurden(&state) : nil
    }
    if let over { letGo(over) }
  }

  /// Takes out the burden that was noted first, if nobody has used it since.
  private func takeBurden(_ state: inout State) -> Value? {
    let first = state.burdens.removeFirst()
    guard case .live(let value, users: 0, first.since) = state.slots[first.key] else { return nil }
    state.slots[first.key] = nil
    return value
  }

  /// Lets go of those of some keys, used or not; who waits for one is told why there is none. O(n).
  func removeAll(where isMeant: (Key) -> Bool, because failure: FetchFailure) {
    let taken = state.withLock { state in
      let taken = state.slots.filter { isMeant($0.key) }
      for key in taken.keys { state.slots[key] = nil }
      return taken.values
    }
    for slot in taken {
      switch slot {
      case .live(let value, _, _): letGo(value)
      case .opening(let waiting):
        waiting.wish.abandon()
        for receiver in waiting.receivers.values { receiver(.failure(failure)) }
      }
    }
  }

  /// Lets go of those of some keys that nobody uses. O(n).
  ///
  /// - Returns: whether there is none of these keys any more.
  func removeIdle(where isMeant: (Key) -> Bool) -> Bool {
    let (idle, areInUse) = state.withLock { state -> ([Value], Bool) in
      let meant = state.slots.filter { isMeant($0.key) }
      let idle = meant.compactMap { key, slot -> Value? in
        guard case .live(let value, users: 0, _) = slot else { return nil }
        state.slots[key] = nil
        return value
      }
      return (idle, idle.count < meant.count)
    }
    for value in idle { letGo(value) }
    return !areInUse
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

  /// Whether there is one that nobody uses. O(n) where there is none.
  var hasIdle: Bool {
    state.withLock { state in
      state.slots.values.contains { slot in
        if case .live(_, users: 0, _) = slot { true } else { false }
      }
    }
  }

  /// Whether there are as many as there may be.
  var isFull: Bool { state.withLock { $0.slots.count >= maximum } }

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
