import Dispatch
import FetchedRecords
import HeldMemory
import Locks

// What goes when the server holds as much as it may.
extension FeedRegistry {
  /// Lets go of what is missed least, until so many bytes are free: the answers that are kept, then
  /// the live query that nobody has used for longest; what only makes changes cheaper, as long as that is
  /// more than half of all that may be held; what streams that come back would be told from, the oldest
  /// first; and at last the rest of what makes changes cheaper.
  ///
  /// O(n log n), n live queries, and once for many of them.
  ///
  /// - Returns: whether there was anything to let go of.
  func letGo(of bytes: Int) -> Bool {
    let goal = HeldMemory.bytes - bytes
    var hasLetGo = pages.removeAll()
    var count = 1
    while HeldMemory.bytes > goal {
      let evicted = evict(atMost: count)
      guard evicted > 0 else { break }
      hasLetGo = true
      guard waitForRefresher() else { return false }
      count *= 2
    }
    // Neither takes the room of the other for good.
    let half = refresher.memory.limit / 2
    if letGoOfAids(until: max(goal, HeldMemory.bytes - HeldMemory.bytesOfAids + half)) {
      hasLetGo = true
    }
    if HeldMemory.bytes > goal, forgetHistories(until: goal) { hasLetGo = true }
    return letGoOfAids(until: goal) || hasLetGo
  }

  private func letGoOfAids(until goal: Int) -> Bool {
    if HeldMemory.bytes <= goal { return false }
    let hasLetGo = Atomic(false)
    let hasWaited = waitForRefresher { [refresher] in
      hasLetGo.store(refresher.letGoOfAids(until: goal), ordering: .relaxed)
    }
    return hasWaited && hasLetGo.load(ordering: .relaxed)
  }

  /// What is let go is freed on the refresher's queue. That may itself wait for whoever asks for room
  /// here: not for long.
  private func waitForRefresher(doing body: @escaping @Sendable () -> Void = {}) -> Bool {
    let passed = DispatchSemaphore(value: 0)
    // A reader may be the one who asks.
    WorkerThread.errands.perform { [queue = refresher.queue] in
      queue.async {
        body()
        passed.signal()
      }
    }
    return passed.wait(timeout: .now() + 1) == .success
  }

  /// Many small ones go together: each round waits for the refresher.
  private func evict(atMost count: Int) -> Int {
    var evicted = 0
    while evicted < count {
      if feeds.evict() {
        evicted += 1
      } else if !compositions.evict() {
        // A composition that nobody uses still uses its members.
        break
      }
    }
    evictions.wrappingAdd(evicted, ordering: .relaxed)
    return evicted
  }

  private func forgetHistories(until goal: Int) -> Bool {
    let logs = feeds.live.map(\.value.log) + compositions.live.map(\.value.log)
    let histories = logs.map { (log: $0, commit: $0.lastCommit) }
    var hasForgotten = false
    for history in histories.sorted(by: { $0.commit < $1.commit }) where HeldMemory.bytes > goal {
      if history.log.forget() { hasForgotten = true }
    }
    return hasForgotten
  }

  /// Why a request for another live query would be refused, if it would.
  ///
  /// O(n) for n live queries, where a limit is reached and all are in use.
  var exhaustion: FetchFailure? {
    let hasNoMemory = refresher.memory.isExhausted
    guard hasNoMemory || feeds.isFull, !feeds.hasIdle, !compositions.hasIdle else { return nil }
    if hasNoMemory { return .noMemory(refresher.limits) }
    return FetchFailure(
      kind: .busy, detail: "all live queries that `limits: controllers` grants are in use")
  }
}
