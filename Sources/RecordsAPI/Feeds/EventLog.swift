import DequeModule
import HTTPServer
import Synchronization

/// The events of a feed, and where in them each version was reached.
///
/// Any number of streams share it; a stream resumes from any version whose events it still holds.
final class EventLog: Sendable {
  let broadcast: Broadcast

  fileprivate struct Mark {
    let version: String
    /// The position after the events that led to the version.
    let position: Broadcast.Position
  }

  private let marks: Mutex<Deque<Mark>>

  init(capacity: Int, version: String) {
    broadcast = Broadcast(capacity: capacity)
    marks = Mutex([Mark(version: version, position: broadcast.end)])
  }

  /// Appends events that led to `version`, or, without one, that led nowhere.
  func append(_ events: [UInt8], version: String? = nil) {
    marks.withLock { marks in
      let position = broadcast.append(events)
      if let version { marks.append(Mark(version: version, position: position)) }
      marks.trim(to: broadcast.start)
    }
  }

  /// Appends a snapshot: nothing before it can be resumed from.
  func restart(with events: [UInt8], version: String) {
    marks.withLock { marks in
      marks = [Mark(version: version, position: broadcast.append(events))]
    }
  }

  /// Where the events after `version` begin, if they are still held.
  func position(after version: String) -> Broadcast.Position? {
    marks.withLock { marks in
      marks.trim(to: broadcast.start)
      return marks.last { $0.version == version }?.position
    }
  }
}

extension Deque<EventLog.Mark> {
  /// Forgets versions whose events are no longer held.
  fileprivate mutating func trim(to start: Broadcast.Position) {
    while let first, first.position < start { removeFirst() }
  }
}
