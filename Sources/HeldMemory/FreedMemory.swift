import Dispatch
import Foundation
import Locks

#if canImport(Glibc)
  import CMalloc
#endif

/// Gives back to the system what the allocator keeps of memory that is free again.
///
/// Whether it keeps much tells what the process has beyond what it holds: that grows where much is let
/// go at once, and little by little where results come and go, for an arena that has a hole
/// everywhere gives nothing back by itself.
package final class FreedMemory: Sendable {
  /// So many bytes more than when there was least, and it is worth a look through the heap.
  private static let worthwhile = 16 << 20
  /// A look holds each arena for a while, and what is given back has to be asked for again.
  private static let pause = Duration.seconds(5)

  private struct State {
    /// The least that the process had beyond what it holds, since the last look.
    var least = Int.max
    var earliest: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "didchange.trim", qos: .utility)

  package init() {}

  /// Gives back, where there is much; to be called about every second. O(1), and the rest elsewhere.
  package func trimSoon(now: ContinuousClock.Instant = .now) {
    guard let beyond = Self.beyondHeld else { return }
    let isDue = state.withLock { state in
      state.least = min(state.least, beyond)
      guard beyond - state.least > Self.worthwhile, state.earliest.map({ $0 <= now }) ?? true
      else { return false }
      state.earliest = now + Self.pause
      return true
    }
    if isDue { queue.async { self.trim() } }
  }

  private func trim() {
    #if canImport(Glibc)
      // https://man7.org/linux/man-pages/man3/malloc_trim.3.html
      malloc_trim(0)
    #endif
    state.withLock { $0.least = Self.beyondHeld ?? .max }
  }

  /// More would take memory and no less time.
  private static let mostArenas = 8

  /// Has the allocator share a few heaps between all threads, as many as there are processors, where
  /// `MALLOC_ARENA_MAX` says nothing else; to be called before there are threads.
  ///
  /// By itself it makes eight for each processor: each keeps what was freed in it from all others, so
  /// that results that come and go leave holes in every one.
  package static func shareHeaps() {
    #if canImport(Glibc)
      guard getenv("MALLOC_ARENA_MAX") == nil else { return }
      let processors = ProcessInfo.processInfo.activeProcessorCount
      // https://man7.org/linux/man-pages/man3/mallopt.3.html
      mallopt(M_ARENA_MAX, Int32(min(max(2, processors), mostArenas)))
    #endif
  }

  private static var beyondHeld: Int? { SystemMemory.resident.map { $0 - HeldMemory.bytes } }
}
