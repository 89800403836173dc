import Dispatch
import Foundation
import Locks

/// SIGTERM and SIGINT from now on: the first is waited for, the second ends the process at once.
final class TerminationSignals {
  private let arrivals = Arrivals()
  private let sources: [any DispatchSourceSignal]

  init() {
    // Not the main queue: the main thread waits, and the second signal must not.
    let queue = DispatchQueue(label: "signals", qos: .userInteractive)
    sources = [SIGTERM, SIGINT].map { [arrivals] number in
      // The default action would end the process before Dispatch hears of the signal.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { arrivals.note(number) }
      source.activate()
      return source
    }
  }

  /// Blocks until the first signal, and returns its name.
  func wait() -> String {
    arrivals.semaphore.wait()
    switch arrivals.first.withLock(\.self) {
    case SIGINT: return "SIGINT"
    case SIGHUP: return "SIGHUP"
    default: return "SIGTERM"
    }
  }

  /// The process is to end as by one of them.
  var end: @Sendable (_ signal: Int32) -> Void { { [arrivals] in arrivals.note($0) } }

  private final class Arrivals: Sendable {
    let semaphore = DispatchSemaphore(value: 0)
    let first: Mutex<Int32?> = Mutex(nil)

    func note(_ number: Int32) {
      let isFirst = first.withLock { first in
        defer { first = first ?? number }
        return first == nil
      }
      // As a shell reports a process that a signal ended.
      guard isFirst else { _exit(128 + number) }
      semaphore.signal()
    }
  }
}
