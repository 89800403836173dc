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
  private var members: [Connection] = []
  private var position = 0
  private var isWalking = false
  /// Something came that members before `position` have not seen.
  private var mustWalkAgain = false

  init(broadcast: Broadcast, loop: EventLoop) {
    self.broadcast = broadcast
    self.loop = loop
  }

  /// From any thread.
  func wake() {
    if let delayed = DelayedWakeUps.current { delayed.add(self) } else { wakeLoop() }
  }

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

  /// Returns the place of the member, by which it is removed.
  func add(_ connection: Connection) -> Int {
    members.append(connection)
    return members.count - 1
  }

  /// O(1): the last member takes the place.
  func remove(at index: Int) {
    dispatchPrecondition(condition: .onQueue(loop.queue))
    let last = members.removeLast()
    if index < members.count {
      members[index] = last
      last.movedInFanOut(to: index)
      // The last one may have been moved to before the walk.
      mustWalkAgain = true
    }
    if members.isEmpty { broadcast.remove(self) }
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
    var left = count
    while position < members.count, left > 0 {
      let member = members[position]
      member.showLog(view, isElsewhere: isElsewhere)
      // A stream that ended has given its place to another.
      if position < members.count, members[position] === member { position += 1 }
      left -= 1
    }
    if position >= members.count {
      position = 0
      isWalking = mustWalkAgain
      mustWalkAgain = false
    }
  }
}
