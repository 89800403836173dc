import Locks

/// An append-only log of bytes shared by all the streams that show it, each a cursor.
///
/// Bounded in bytes: a stream whose cursor has fallen off asks its `onLag` what to send instead.
/// Costs nothing while nobody listens but its bytes, and is cheap enough for one subscriber.
package final class Broadcast: Sendable {
  /// A place between two units.
  ///
  /// Positions grow and are never used again.
  package struct Position: Sendable, Hashable, Comparable {
    let offset: Int

    /// The order of the log.
    package static func < (left: Position, right: Position) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var log: ByteLog
    var isClosed = false
    /// One for each event loop that has subscribers.
    var fanOuts: [FanOut] = []

    mutating func takeSleeping() -> [FanOut] {
      let sleeping = fanOuts.filter { !$0.isWoken }
      for fanOut in sleeping { fanOut.isWoken = true }
      return sleeping
    }
  }

  private let state: Mutex<State>

  /// A log that holds about `capacity` bytes, but always the newest unit.
  package init(capacity: Int) {
    state = Mutex(State(log: ByteLog(capacity: capacity)))
  }

  /// Appends one unit (all events of a change set) and returns the position after it.
  ///
  /// From any thread. O(bytes), and one wake-up for each event loop with subscribers that is not
  /// woken already. Streams never show a part of a unit without the rest. Nothing is appended to
  /// a closed log.
  ///
  /// - Parameter unit: The bytes; nothing is no unit.
  /// - Returns: Where a stream that has shown the unit stands.
  @discardableResult
  package func append(_ unit: [UInt8]) -> Position {
    var sleeping: [SleepingStreams] = []
    defer { for streams in sleeping { streams.wake() } }
    return append(unit, leaving: &sleeping)
  }

  /// The same for somebody who wakes the streams later, which must be done.
  ///
  /// - Parameters:
  ///   - unit: The bytes; nothing is no unit.
  ///   - sleeping: Takes those that are to be woken.
  /// - Returns: Where a stream that has shown the unit stands.
  package func append(_ unit: [UInt8], leaving sleeping: inout [SleepingStreams]) -> Position {
    state.withLock { state in
      if !state.isClosed { state.log.append(unit) }
      sleeping += state.takeSleeping().map(SleepingStreams.init)
      return Position(offset: state.log.end)
    }
  }

  /// Drops all units and returns the position after them: every stream asks its `onLag` what to
  /// send instead.
  ///
  /// From any thread. The cost is that of an append.
  package func restart() -> Position {
    let (position, sleeping) = state.withLock { state in
      if !state.isClosed { state.log.restart() }
      return (Position(offset: state.log.end), state.takeSleeping())
    }
    for fanOut in sleeping { fanOut.wakeLoop() }
    return position
  }

  /// Drops all units but the newest: a stream that has not shown the others asks its `onLag` what to
  /// send instead.
  ///
  /// From any thread. O(bytes of the newest unit).
  ///
  /// - Returns: whether there were others.
  package func forget() -> Bool { state.withLock { $0.log.forget() } }

  /// The position after the newest unit.
  package var end: Position { state.withLock { Position(offset: $0.log.end) } }

  /// The position of the oldest unit still held.
  package var start: Position { state.withLock { Position(offset: $0.log.start) } }

  /// The units between two positions; nil where some of them are no longer held.
  ///
  /// O(bytes).
  package func units(from start: Position, to end: Position) -> [UInt8]? {
    state.withLock { state in
      guard start.offset >= state.log.start, end.offset <= state.log.end else { return nil }
      let view = LogView(
        segments: state.log.segments, start: state.log.start, end: end.offset, isClosed: false)
      return view.payloads(from: start.offset, limit: .max).bytes
    }
  }

  /// Ends all streams after the units appended so far.
  package func close() {
    let sleeping = state.withLock { state in
      state.isClosed = true
      return state.takeSleeping()
    }
    for fanOut in sleeping { fanOut.wakeLoop() }
  }
}

extension Broadcast {
  /// What there is to send now.
  var view: LogView { state.withLock { Self.view($0) } }

  /// The same, and from now on an append wakes this loop again.
  func view(waking fanOut: FanOut) -> LogView {
    state.withLock { state in
      fanOut.isWoken = false
      return Self.view(state)
    }
  }

  private static func view(_ state: State) -> LogView {
    LogView(
      segments: state.log.segments, start: state.log.start, end: state.log.end,
      isClosed: state.isClosed)
  }

  /// The fan-out of a loop, made where there is none.
  func fanOut(of loop: EventLoop) -> FanOut {
    state.withLock { state in
      if let fanOut = state.fanOuts.first(where: { $0.loop === loop }) { return fanOut }
      let fanOut = FanOut(broadcast: self, loop: loop)
      state.fanOuts.append(fanOut)
      return fanOut
    }
  }

  /// Forgets a fan-out that has no member.
  func remove(_ fanOut: FanOut) {
    state.withLock { state in state.fanOuts.removeAll { $0 === fanOut } }
  }

  func unit(in segment: LogSegment, at position: Int) -> Range<Int> {
    // The lock guards what the segment knows of its units, even when the log has dropped it.
    state.withLock { _ in segment.unit(at: position) }
  }

  /// What a view holds from a position on, even when the log has dropped it.
  func payloads(of view: LogView, from position: Int, limit: Int) -> (bytes: [UInt8], end: Int) {
    state.withLock { _ in view.payloads(from: position, limit: limit) }
  }
}
