import Dispatch
import Synchronization

#if canImport(Glibc)
  import CMalloc
#endif

/// Gives back to the system what was held and is free again.
package final class FreedMemory: Sendable {
  /// So many bytes less than at some time before, and it is worth a look through the heap.
  private static let worthwhile = 32 << 20

  private let highest = Atomic(0)
  private let queue = DispatchQueue(label: "didchange.trim", qos: .utility)

  package init() {}

  /// Gives back, where much has gone; to be called about every second. O(1), and the rest elsewhere.
  package func trimSoon() {
    let held = HeldMemory.bytes
    let before = highest.load(ordering: .relaxed)
    guard before - held > Self.worthwhile else {
      return highest.store(max(before, held), ordering: .relaxed)
    }
    highest.store(held, ordering: .relaxed)
    queue.async { Self.trim() }
  }

  private static func trim() {
    #if canImport(Glibc)
      // https://man7.org/linux/man-pages/man3/malloc_trim.3.html
      malloc_trim(0)
    #endif
  }
}
