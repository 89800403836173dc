import Dispatch
import Foundation
import Locks

/// A thread that does one piece of work after the other, and can be told to let others go first.
///
/// Not a dispatch queue: the threads of queues are shared, and one that has been made to yield to
/// others stays so.
package final class WorkerThread: Sendable {
  private final class Mailbox: Sendable {
    let work = Mutex<[@Sendable () -> Void]>([])
    let arrivals = DispatchSemaphore(value: 0)
    /// Whether the thread is to run behind whatever else wants to run.
    let yields = Atomic(false)
    /// By which Linux knows the thread; 0: it has not begun.
    let thread = Atomic<Int32>(0)
  }

  private let mailbox = Mailbox()

  /// Whether it was told to yield to others, which it does as long as it lives: nobody without
  /// privileges may undo it.
  var yields: Bool { mailbox.yields.load(ordering: .sequentiallyConsistent) }

  /// Begins a thread, which ends with the object.
  ///
  /// - Parameter name: what the system shows; Linux takes 15 characters, or none (`man 3 pthread_setname_np`).
  package init(name: String) {
    let thread = Thread { [mailbox] in
      Self.begin(mailbox)
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

  package func perform(_ work: @escaping @Sendable () -> Void) {
    mailbox.work.withLock { $0.append(work) }
    mailbox.arrivals.signal()
  }

  /// Has it run behind whatever else wants to run from now on, what it does at present included.
  package func yieldToOthers() {
    mailbox.yields.store(true, ordering: .sequentiallyConsistent)
    let thread = mailbox.thread.load(ordering: .sequentiallyConsistent)
    if thread != 0 { Self.lower(thread) }
  }

  private static func begin(_ mailbox: Mailbox) {
    #if os(Linux)
      // `<process>/task/<thread>` (`man 5 proc`).
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      let own = link?.split(separator: "/").last.flatMap { Int32($0) } ?? 0
      mailbox.thread.store(own, ordering: .sequentiallyConsistent)
      // 0 is the calling thread.
      if mailbox.yields.load(ordering: .sequentiallyConsistent) { lower(0) }
    #endif
  }

  private static func lower(_ thread: Int32) {
    #if os(Linux)
      // Linux keeps the value for each thread (`man 2 setpriority`). With 5 a commit in a hundred waits 3 to 4 ms
      // for the processor, with 10 none more than beside nobody.
      setpriority(.init(process), id_t(thread), min(19, Self.ofProcess + 10))
    #endif
  }

  #if os(Linux)
    /// PRIO_PROCESS, whose type differs between C libraries.
    private static let process = 0
    /// That of the process: of its first thread, which is never lowered.
    private static let ofProcess = getpriority(.init(process), id_t(getpid()))
  #endif
}
