import Dispatch
import Foundation

/// Lets a thread run that a commit has woken on this processor, many times in what takes long. By itself the scheduler
/// takes a processor from a thread of lower priority at its next tick only, up to 4 ms later (Linux 6.18).
///
/// Who yields falls behind whoever else wants the processor for long, and so does it less often
/// then: a twentieth of the time at most is lost.
package struct ProcessorPulse {
  /// After which the scheduler is asked whether some other thread would go first, in nanoseconds.
  private static let length: UInt64 = 100_000

  private var next: UInt64

  /// Begins to count.
  package init() { next = DispatchTime.now().uptimeNanoseconds &+ Self.length }

  /// Gives way, if it is time to.
  ///
  /// - Parameter time: now, in nanoseconds of `DispatchTime`.
  package mutating func giveWay(at time: UInt64 = DispatchTime.now().uptimeNanoseconds) {
    guard time >= next else { return }
    sched_yield()
    let now = DispatchTime.now().uptimeNanoseconds
    next = now &+ max(Self.length, 20 &* (now &- time))
  }
}
