import Dispatch
import Synchronization

/// Lines of the log on their way to standard error.
///
/// They are written by a thread that nobody waits for: whoever reads the log may stop, a terminal that
/// is held or a full pipe, and clients and commits go on. What comes when too many lines wait is lost,
/// and counted in a line of its own as soon as there is room.
final class LogQueue: Sendable {
  static let shared = LogQueue()

  /// Lines that may wait.
  private static let capacity = 8192

  private let queue = DispatchQueue(label: "didchange.log")
  private let waiting = Atomic(0)
  private let lost = Atomic(0)

  /// Writes something soon, after what came before it. From any thread; waits for nothing.
  func write(_ line: @escaping @Sendable () -> Void) {
    guard waiting.wrappingAdd(1, ordering: .relaxed).oldValue < Self.capacity else {
      waiting.wrappingSubtract(1, ordering: .relaxed)
      lost.wrappingAdd(1, ordering: .relaxed)
      return
    }
    queue.async { [self] in
      line()
      waiting.wrappingSubtract(1, ordering: .relaxed)
      let lost = lost.exchange(0, ordering: .relaxed)
      if lost > 0 { StandardError.write("\(lost) lines of the log were lost: nobody took them\n") }
    }
  }

  /// Waits until all that came before is written, for half a second at most; returns whether it is.
  func flush() -> Bool {
    let isWritten = DispatchSemaphore(value: 0)
    queue.async { isWritten.signal() }
    return isWritten.wait(timeout: .now() + 0.5) == .success
  }
}
