import Dispatch
import Foundation
import Locks

/// SIGHUP from now on: what is to be done at it is done one at a time, and once for all signals that
/// come meanwhile.
final class HangupSignal {
  private let queue = DispatchQueue(label: "hangup")
  private let state = Reaction()
  private let source: any DispatchSourceSignal

  init() {
    // The default action would end the process before Dispatch hears of the signal.
    signal(SIGHUP, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
    source.setEventHandler { [state] in state.signalled() }
    source.activate()
  }

  /// Does something at each signal from now on, and at once where one came before.
  func react(_ body: @escaping @Sendable () -> Void) {
    queue.async { [state] in state.begin(body) }
  }

  private final class Reaction: Sendable {
    private struct State {
      var body: (@Sendable () -> Void)?
      var isMissed = false
    }

    private let state = Mutex(State())

    func signalled() {
      let body = state.withLock { state in
        if state.body == nil { state.isMissed = true }
        return state.body
      }
      body?()
    }

    func begin(_ body: @escaping @Sendable () -> Void) {
      let isMissed = state.withLock { state in
        state.body = body
        return state.isMissed
      }
      if isMissed { body() }
    }
  }
}
