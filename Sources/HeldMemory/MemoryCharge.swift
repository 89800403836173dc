import Locks

/// What one holder counts in ``HeldMemory``, until it goes.
package final class MemoryCharge: Sendable {
  private let charged: Atomic<Int>

  package init(_ bytes: Int = 0) {
    charged = Atomic(bytes)
    HeldMemory.add(bytes)
  }

  deinit { HeldMemory.add(-charged.load(ordering: .relaxed)) }

  /// What is counted for the holder; from any thread. O(1).
  package var bytes: Int { charged.load(ordering: .relaxed) }

  /// The holder has another size now; from any thread. O(1).
  package func set(_ bytes: Int) {
    let old = charged.exchange(bytes, ordering: .relaxed)
    if bytes != old { HeldMemory.add(bytes - old) }
  }
}
