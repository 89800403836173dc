import Dispatch
import Locks

/// How many bytes may be held, and what happens when they are: somebody lets go, or what needs more
/// is refused.
package final class MemoryBudget: Sendable {
  /// Whoever takes in something large asks for room in steps of so many bytes; what takes in as much
  /// at the same time elsewhere may pass the limit by as many.
  package static let step = 1 << 20

  /// Bytes.
  package let limit: Int

  /// Bytes of the limit that are left to what is small: whoever takes much leaves them to others.
  package var reserve: Int { limit / 16 }

  /// Whether so many bytes more may be held of aids, which only make changes cheaper: they leave an eighth of the
  /// limit, so that what is shown seldom has to push them out. O(1).
  package func hasRoom(forAids bytes: Int) -> Bool { hasRoom(for: bytes + 2 * reserve) }

  /// Whether so many bytes more may be held as soon as all aids are let go. O(1).
  package func willHaveRoom(for bytes: Int) -> Bool {
    HeldMemory.bytes - HeldMemory.bytesOfAids <= limit - bytes
  }

  /// Lets go of what is missed least; returns whether there was anything.
  package typealias Relief = @Sendable (_ bytes: Int) -> Bool

  private let relief = Mutex<Relief?>(nil)
  /// Where room is made, by one at a time.
  private let queue = DispatchQueue(label: "didchange.memory", qos: .utility)
  private let isRelieving = Atomic(false)
  private let wasInVain = Atomic(false)
  private let refused = Atomic(0)

  package init(limit: Int) { self.limit = limit }

  /// Says who lets go.
  package func whenFull(_ body: @escaping Relief) { relief.withLock { $0 = body } }

  /// Whether so many bytes more may be held. O(1).
  package func hasRoom(for bytes: Int = 0) -> Bool { HeldMemory.bytes <= limit - bytes }

  /// Whether what takes a step more would be refused: nobody could let go of anything when that was
  /// last tried. O(1).
  package var isExhausted: Bool {
    wasInVain.load(ordering: .relaxed) && !willHaveRoom(for: Self.step + reserve)
  }

  /// How often something was refused.
  package var refusals: Int { refused.load(ordering: .relaxed) }

  package func noteRefusal() { refused.wrappingAdd(1, ordering: .relaxed) }

  /// Has others let go until so many bytes more may be held; waits for that.
  ///
  /// Not from the queue that whoever lets go needs for it.
  ///
  /// - Returns: whether there is room.
  package func makeRoom(for bytes: Int) -> Bool {
    if hasRoom(for: bytes) { return true }
    return queue.sync { relieve(for: bytes) }
  }

  /// The same later, without waiting; called where the limit may have been passed.
  package func makeRoomSoon(for bytes: Int = 0) {
    guard isRelieving.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    else { return }
    queue.async { [self] in
      isRelieving.store(false, ordering: .relaxed)
      _ = relieve(for: bytes)
    }
  }

  private func relieve(for bytes: Int) -> Bool {
    // For what can never fit, nobody lets go.
    guard bytes <= limit else { return false }
    let relief = relief.withLock { $0 }
    while !hasRoom(for: bytes) {
      // A little more than is needed: the next one comes soon.
      let missing = HeldMemory.bytes + bytes - limit + limit / 64
      guard let relief, relief(missing) else {
        wasInVain.store(true, ordering: .relaxed)
        return hasRoom(for: bytes)
      }
    }
    wasInVain.store(false, ordering: .relaxed)
    return true
  }
}
