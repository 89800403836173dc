import Locks

/// Holds a stream, and lets it go on with something else; from any thread.
///
/// It is the remote of one stream, and of each body that this goes on with. Calls before the stream
/// has begun hold it from the beginning; its prefix is sent nevertheless, because its position is
/// that of somebody who has seen the prefix. Once the stream is over, calls do nothing. Each call is
/// O(1).
package final class StreamRemote: Sendable {
  /// What a stream does that stands between two units.
  package enum Redirection: Sendable {
    /// Goes on with another body: its prefix, and then its broadcast from its position.
    ///
    /// The `onEnd` of the old body is called, that of the new one at its end. The body's `remote` is
    /// not asked for: it stays this one. Holding is over.
    case stream(StreamBody)

    /// Goes on as it was; holding is over.
    case goOn

    /// Sends these bytes and ends.
    case end([UInt8])
  }

  /// A redirection that is being asked.
  struct Call {
    let body: @Sendable (Broadcast.Position) -> Redirection
    fileprivate let number: Int
  }

  private enum Stage {
    case early
    case begun(StreamPlace)
    case over
  }

  private struct State {
    var stage = Stage.early
    /// Waits until the stream stands between two units; held is a stream that has one.
    var redirection: (@Sendable (Broadcast.Position) -> Redirection)?
    /// How many calls there were: a later one outlasts the answer to an earlier one.
    var calls = 0

    var isOver: Bool { if case .over = stage { true } else { false } }

    var place: StreamPlace? { if case .begun(let place) = stage { place } else { nil } }
  }

  private let state = Mutex(State())
  /// Written under the lock of `state`, read without it.
  private let holds = Atomic(false)

  package init() {}

  /// Lets the stream send nothing more of its broadcast but what is being sent already.
  ///
  /// What is appended after the call is not sent. Heartbeats and the prefix go on.
  package func hold() {
    state.withLock { state in
      state.calls += 1
      holds.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Lets the stream go on as it was; a redirection that was not asked yet is dropped.
  package func release() {
    // A closure is let go outside of the lock: it may hold whatever there is.
    let (place, _) = state.withLock { state in
      state.calls += 1
      let wasHeld = holds.exchange(false, ordering: .sequentiallyConsistent)
      return (wasHeld ? state.place : nil, state.redirection.take())
    }
    place?.resumeLater()
  }

  /// Holds the stream, and asks it what to do when it stands between two units of its log: after its
  /// prefix, and after the rest of a unit that is being sent.
  ///
  /// A later call replaces one that has not been asked yet. Where the log is closed meanwhile, this
  /// comes first.
  ///
  /// - Parameter body: Called at most once, on the connection's loop, with the stream's position in
  ///   its present broadcast, which need not be held by it any more. A call on the remote during it
  ///   outlasts its answer: a stream that is held anew goes on with the new body held.
  package func redirect(_ body: @escaping @Sendable (Broadcast.Position) -> Redirection) {
    let (place, _) = state.withLock { state in
      guard !state.isOver else { return (nil as StreamPlace?, state.redirection.take()) }
      state.calls += 1
      holds.store(true, ordering: .sequentiallyConsistent)
      let replaced = state.redirection
      state.redirection = body
      return (state.place, replaced)
    }
    place?.resumeLater()
  }
}

// MARK: - For the stream

extension StreamRemote {
  /// Whether nothing of the log may be sent.
  ///
  /// To be read after the log's view was taken: the lock of the broadcast then stands between an
  /// append that the view holds and this, so a hold before the append is seen here.
  var isHeld: Bool { holds.load(ordering: .acquiring) }

  func begin(_ place: StreamPlace) {
    state.withLock { state in
      guard case .early = state.stage else {
        return assertionFailure("a remote is that of one stream")
      }
      state.stage = .begun(place)
    }
  }

  /// The stream is over, or never began.
  func end() {
    _ = state.withLock { state in
      state.stage = .over
      return state.redirection.take()
    }
  }

  /// Takes the redirection that waits, to be asked at once.
  func takeCall() -> Call? {
    guard isHeld else { return nil }
    return state.withLock { state in
      state.redirection.take().map { Call(body: $0, number: state.calls) }
    }
  }

  /// Ends holding, but for calls that came since the redirection was taken.
  func wasAsked(_ call: Call) {
    state.withLock { state in
      if state.calls == call.number { holds.store(false, ordering: .sequentiallyConsistent) }
    }
  }
}
