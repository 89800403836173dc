import Dispatch
import Foundation
import Locks

/// A thread that does one piece of work after the other, behind whatever else wants to run.
///
/// Not a dispatch queue: the threads of queues are shared, and one that has been made to yield to
/// others stays so.
final class WorkerThread: Sendable {
  private final class Mailbox: Sendable {
    let work = Mutex<[@Sendable () -> Void]>([])
    let arrivals = DispatchSemaphore(value: 0)
  }

  private let mailbox = Mailbox()

  /// Begins a thread, which ends with the object.
  init(name: String) {
    let thread = Thread { [mailbox] in
      Self.yieldToOthers()
      while true {
        mailbox.arrivals.wait()
        // Nothing to do is the end.
        guard let next = mailbox.work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
          return
        }
        next()
      }
    }
    thread.name = name
    thread.qualityOfService = .utility
    thread.start()
  }

  deinit { mailbox.arrivals.signal() }

  func perform(_ work: @escaping @Sendable () -> Void) {
    mailbox.work.withLock { $0.append(work) }
    mailbox.arrivals.signal()
  }

  private static func yieldToOthers() {
    #if os(Linux)
      // Linux keeps the value for each thread (`man 2 setpriority`): long queries leave the
      // processor to commits, which are short.
      let process = 0  // PRIO_PROCESS, whose type differs between C libraries
      setpriority(.init(process), 0, 10)
    #endif
  }
}
