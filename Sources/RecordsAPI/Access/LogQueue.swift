import Dispatch
import Locks

/// Lines of a log on their way to whoever reads it.
///
/// They are made and written by a thread that nobody waits for: the reader may stop, a terminal that
/// is held or a full pipe, and clients and commits go on. What comes when too many lines wait is lost,
/// and counted in a line of its own as soon as there is room.
package final class LogQueue: Sendable {
  /// Lines that may wait; some 500 bytes each.
  private static let capacity = 8192

  private let queue: DispatchQueue
  private let onLoss: @Sendable (_ lines: Int) -> Void
  private let waiting = Atomic(0)
  private let lost = Atomic(0)

  package init(label: String, onLoss: @escaping @Sendable (_ lines: Int) -> Void) {
    queue = DispatchQueue(label: label)
    self.onLoss = onLoss
  }

  /// Writes something soon, after what came before it. From any thread; waits for nothing.
  package func write(_ line: @escaping @Sendable () -> Void) {
    guard waiting.wrappingAdd(1, ordering: .relaxed).oldValue < Self.capacity else {
      waiting.wrappingSubtract(1, ordering: .relaxed)
      lost.wrappingAdd(1, ordering: .relaxed)
      return
    }
    queue.async { [self] in
      line()
      waiting.wrappingSubtract(1, ordering: .relaxed)
      let lost = lost.exchange(0, ordering: .relaxed)
      if lost > 0 { onLoss(lost) }
    }
  }

  /// Waits until all that came before is written, for so many seconds at most; returns whether it is.
  @discardableResult
  package func flush(within seconds: Double) -> Bool {
    let isWritten = DispatchSemaphore(value: 0)
    queue.async { isWritten.signal() }
    return isWritten.wait(timeout: .now() + seconds) == .success
  }
}
