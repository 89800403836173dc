import Locks

/// What one holder counts in ``HeldMemory``, until it goes.
package final class MemoryCharge: Sendable {
  private let charged = Atomic(0)
  private let isOfAid: Bool

  /// - Parameters:
  ///   - bytes: what the holder takes.
  ///   - isOfAid: whether it only makes changes cheaper.
  package init(_ bytes: Int = 0, isOfAid: Bool = false) {
    self.isOfAid = isOfAid
    set(bytes)
  }

  deinit { set(0) }

  /// What is counted for the holder; from any thread. O(1).
  package var bytes: Int { charged.load(ordering: .relaxed) }

  /// The holder has another size now; from any thread. O(1).
  package func set(_ bytes: Int) {
    let old = charged.exchange(bytes, ordering: .relaxed)
    if bytes == old { return }
    isOfAid ? HeldMemory.add(ofAid: bytes - old) : HeldMemory.add(bytes - old)
  }
}
