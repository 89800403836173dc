import Synchronization

/// Ends one stream, from any thread.
package final class StreamControl: Sendable {
  private enum State {
    case unattached
    case attached(EventLoop, token: UInt64, exchange: UInt32)
    case ended(farewell: [UInt8])
  }

  private let state = Mutex(State.unattached)

  /// The control of a stream that has not begun.
  package init() {}

  /// Ends the stream after the unit that is being sent, then with `farewell`.
  ///
  /// Units that the reader has not been sent yet are not sent any more. A stream inside its prefix
  /// ends there without the farewell, because that would be taken for a part of the prefix.
  package func end(farewell: [UInt8] = []) {
    let attached = state.withLock { state -> (EventLoop, UInt64, UInt32)? in
      defer { if case .ended = state {} else { state = .ended(farewell: farewell) } }
      guard case .attached(let loop, let token, let exchange) = state else { return nil }
      return (loop, token, exchange)
    }
    guard let (loop, token, exchange) = attached else { return }
    loop.perform { $0.connection(token)?.endStream(exchange: exchange, farewell: farewell) }
  }

  /// Names the stream.
  ///
  /// Returns the farewell if it was ended before it began.
  func attach(_ loop: EventLoop, token: UInt64, exchange: UInt32) -> [UInt8]? {
    state.withLock { state in
      if case .ended(let farewell) = state { return farewell }
      state = .attached(loop, token: token, exchange: exchange)
      return nil
    }
  }

  /// The stream is over: nothing is held any more.
  func detach() { state.withLock { $0 = .ended(farewell: []) } }
}
