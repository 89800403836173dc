import HTTPServer
import Synchronization

/// What streams can show: a log of events, and how to begin with it.
protocol StreamableFeed: AnyObject, Sendable {
  var log: EventLog { get }

  /// What a stream is sent before the log, and from where it follows the log.
  func beginning(_ opening: StreamOpening) -> StreamBeginning
}

/// How a client wants its stream to begin.
struct StreamOpening: Sendable {
  /// The version to continue after.
  let lastEventID: String?
  let wantsSnapshot: Bool

  /// Where a stream starts over that has nothing to resume from.
  static let anew = StreamOpening(lastEventID: nil, wantsSnapshot: true)

  /// What a feed shows now.
  struct Present {
    let snapshots: [SnapshotEvent]
    let failures: [[UInt8]]
    let position: Broadcast.Position
  }

  /// The log's own bytes since the client's version where the log still has them, and else
  /// snapshots: nothing is skipped silently.
  func beginning(of log: EventLog, present: () -> Present) -> StreamBeginning {
    let retry = Retry.line()
    if let lastEventID, let position = log.position(after: lastEventID) {
      return StreamBeginning(retry, [], position)
    }
    let present = present()
    let snapshots = wantsSnapshot || lastEventID != nil ? present.snapshots : []
    return StreamBeginning(
      present.failures.reduce(retry, +), snapshots, present.position)
  }
}

/// When a client comes back to a stream that broke.
enum Retry {
  /// A `retry:` field of one to three seconds: clients whose streams broke together come back one
  /// by one.
  static func line() -> [UInt8] {
    Array("retry: \(Int.random(in: 1000...3000))\n\n".utf8)
  }
}

/// What a stream sends before it follows its log, and from where it follows it.
struct StreamBeginning: Sendable {
  let prefix: StreamBody.Source
  let position: Broadcast.Position

  init(_ first: [UInt8], _ snapshots: [SnapshotEvent], _ position: Broadcast.Position) {
    self.position = position
    let rest = Mutex<(first: [UInt8]?, snapshots: ArraySlice<SnapshotEvent>)>(
      (first, snapshots[...]))
    prefix = {
      rest.withLock { rest in
        if let first = rest.first {
          rest.first = nil
          return first
        }
        while let index = rest.snapshots.indices.first {
          if let piece = rest.snapshots[index].next() { return piece }
          rest.snapshots.removeFirst()
        }
        return nil
      }
    }
  }

  var resumption: StreamBody.Resumption {
    StreamBody.Resumption(prefix: prefix, position: position)
  }
}
