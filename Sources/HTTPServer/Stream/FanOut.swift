import Dispatch

/// The streams of one loop that show one broadcast.
///
/// An append wakes the loop once; the loop walks its streams in slices, so that requests on the
/// same queue wait for a slice and not for ten thousand writes. Each slice takes a fresh view, so
/// what is appended during a walk goes out with it where it can.
// Unchecked: `isWoken` is guarded by the broadcast's lock, the other variables by the loop's queue.
final class FanOut: @unchecked Sendable {
  /// A write to a loopback socket takes some 8 µs: half a millisecond a slice.
  private static let slice = 64
  /// So many take no longer than it does to wake a thread for them.
  private static let few = 8

  let broadcast: Broadcast
  let loop: EventLoop
  /// Guarded by the broadcast's lock.
  var isWoken = false

  // Guarded by the loop's queue.
  private var places: [FanOutEntry] = []
  private var position = 0
  private var isWalking = false
  /// Something came that members before `position` have not seen.
  private var mustWalkAgain = false

  init(broadcast: Broadcast, loop: EventLoop) {
    self.broadcast = broadcast
    self.loop = loop
  }

  /// From any thread.
  func wakeLoop() {
    loop.queue.async { [self] in begin(Self.slice) }
  }

  /// Shows a few members what there is on the calling thread, and leaves the others to the loop; all
  /// of them where it is busy.
  func serveHere() {
    if loop.isBusy { return wakeLoop() }
    loop.queue.sync { begin(Self.few, isElsewhere: true) }
  }

  private func begin(_ count: Int, isElsewhere: Bool = false) {
    if isWalking { mustWalkAgain = true } else { walk(count, isElsewhere: isElsewhere) }
  }

  /// Returns the index of the member's place, by which it is removed.
  func add(_ connection: Connection) -> Int {
    places.append(FanOutEntry(connection))
    return places.count - 1
  }

  /// Leaves a stream to the fan-out, which shows it the log from a cursor on.
  func park(at index: Int, cursor: Int, lastWrite: Moment) {
    places[index].park(cursor: cursor, lastWrite: lastWrite)
  }

  /// Takes it back, and says how far it has come.
  func unpark(at index: Int) -> (cursor: Int, lastWrite: Moment) { places[index].unpark() }

  /// O(1): the last member takes the place.
  func remove(at index: Int) {
    dispatchPrecondition(condition: .onQueue(loop.queue))
    let last = places.removeLast()
    if index < places.count {
      places[index] = last
      last.connection.movedInFanOut(to: index)
      // The last one may have been moved to before the walk.
      mustWalkAgain = true
    }
    if places.isEmpty { broadcast.remove(self) }
  }

  /// Goes on with the next `count` members.
  private func walk(_ count: Int, isElsewhere: Bool = false) {
    dispatchPrecondition(condition: .onQueue(loop.queue))
    isWalking = true
    loop.inTurn { show(count, isElsewhere: isElsewhere) }
    if isWalking { loop.queue.async { [self] in walk(Self.slice) } }
  }

  private func show(_ count: Int, isElsewhere: Bool) {
    loop.refreshClock()
    let view = broadcast.view(waking: self)
    var end = position + count
    while position < min(end, places.count) {
      let transfer = showParked(view, upTo: end)
      guard position < min(end, places.count) else { break }
      let member = places[position].connection
      if let transfer {
        member.logWasShown(view, transfer, isElsewhere: isElsewhere)
      } else {
        member.showLog(view, isElsewhere: isElsewhere)
      }
      // A stream that ended has given its place to another.
      if position < places.count, places[position].connection === member {
        position += 1
      } else {
        end -= 1
      }
    }
    if position >= places.count {
      position = 0
      isWalking = mustWalkAgain
      mustWalkAgain = false
    }
  }

  /// Goes on with parked members as far as each takes all there is.
  ///
  /// - Returns: What was sent to the one at `position`, if it is parked and did not take all.
  private func showParked(_ view: LogView, upTo end: Int) -> Transfer? {
    guard !view.isClosed, let segment = view.segments.last else { return nil }
    let now = loop.now
    // A reader that is further behind is asked what to send instead.
    let oldest = max(segment.base, view.start)
    var (next, sent) = (position, 0)
    var rest: Transfer?
    places.withUnsafeMutableBufferPointer { places in
      while next < min(end, places.count), places[next].isParked(after: oldest) {
        let start = places[next].cursor
        if start < view.end {
          let transfer = SystemCalls.send(
            places[next].descriptor, UnsafeRawBufferPointer(segment.bytes(start..<view.end)))
          guard transfer == .bytes(view.end - start) else {
            rest = transfer
            return
          }
          sent += view.end - start
          places[next].hasTaken(to: view.end, at: now)
        }
        next += 1
      }
    }
    position = next
    if sent > 0 { loop.counters.update { $0.bytesSent += sent } }
    return rest
  }
}
