import ChangeCapture
import Dispatch
import Foundation
import Locks

#if os(Linux)
  import CLinux
#endif

/// A thread that does one piece of work after the other, and can be told to let others go first.
///
/// Not a dispatch queue: the threads of queues are shared, and one that has been made to yield to
/// others stays so. Nor may one that was hand anything to a queue: for that a thread may be made, and a new
/// thread has the precedence of who makes it. ``errands`` does it for them.
package final class WorkerThread: Sendable {
  /// How a thread stands to whoever else wants the processor.
  package enum Precedence: Int, AtomicRepresentable {
    /// As most threads do.
    case equal
    /// It gets a tenth of the processor that it shares with another one.
    case behind
    /// Whoever wakes takes the processor from it at once, not with the next tick; beside who never rests it
    /// gets next to nothing.
    case whenIdle
  }

  private final class Mailbox: Sendable {
    let work = Mutex<[@Sendable () -> Void]>([])
    let arrivals = DispatchSemaphore(value: 0)
    let precedence = Atomic(Precedence.equal)
    /// By which Linux knows the thread; 0: it has not begun.
    let thread = Atomic<Int32>(0)
  }

  /// What threads that let others go first hand to queues; it is there before any of them is lowered.
  package static let errands = WorkerThread(name: "didchange.hand")

  private let mailbox = Mailbox()

  /// The last that it was told, as far as the system lets it: it only ever gets lower, for nobody without
  /// privileges may undo it.
  var precedence: Precedence { mailbox.precedence.load(ordering: .sequentiallyConsistent) }

  /// Begins a thread, which ends with the object.
  ///
  /// - Parameter name: what the system shows.
  package init(name: String) {
    let thread = Thread { [mailbox] in
      Thread.nameCurrent(name)
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
    thread.qualityOfService = .utility
    thread.start()
  }

  deinit { mailbox.arrivals.signal() }

  package func perform(_ work: @escaping @Sendable () -> Void) {
    mailbox.work.withLock { $0.append(work) }
    mailbox.arrivals.signal()
  }

  /// The same, and waits until it is done.
  func performAndWait(_ work: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    perform {
      work()
      done.signal()
    }
    done.wait()
  }

  /// Has others go before it from now on, in what it does at present too.
  package func lower(to precedence: Precedence) {
    guard precedence.rawValue > self.precedence.rawValue else { return }
    _ = Self.errands
    mailbox.precedence.store(precedence, ordering: .sequentiallyConsistent)
    let thread = mailbox.thread.load(ordering: .sequentiallyConsistent)
    if thread != 0 { Self.apply(mailbox, to: thread) }
  }

  private static func begin(_ mailbox: Mailbox) {
    #if os(Linux)
      // `<process>/task/<thread>` (`man 5 proc`).
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      let own = link?.split(separator: "/").last.flatMap { Int32($0) } ?? 0
      // It has that of the thread that made it, which Dispatch may have raised.
      setpriority(.init(process), 0, ofProcess)
      mailbox.thread.store(own, ordering: .sequentiallyConsistent)
      // 0 is the calling thread.
      apply(mailbox, to: 0)
    #endif
  }

  private static func apply(_ mailbox: Mailbox, to thread: Int32) {
    #if os(Linux)
      switch mailbox.precedence.load(ordering: .sequentiallyConsistent) {
      case .equal: return
      case .whenIdle where run_thread_when_idle(thread) == 0: return
      case .whenIdle:
        mailbox.precedence.store(.behind, ordering: .sequentiallyConsistent)
        fallthrough
      case .behind:
        // Linux keeps the value for each thread (`man 2 setpriority`).
        setpriority(.init(process), id_t(thread), min(19, ofProcess + 10))
      }
    #endif
  }

  #if os(Linux)
    /// PRIO_PROCESS, whose type differs between C libraries.
    private static let process = 0
    /// That of the process: of its first thread, which is never lowered.
    private static let ofProcess = getpriority(.init(process), id_t(getpid()))
  #endif
}
