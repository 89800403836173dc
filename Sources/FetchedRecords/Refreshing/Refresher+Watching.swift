package import ChangeCapture
import Dispatch

// Noticing what any process does to the database.
extension Refresher {
  /// How long to wait before trying again what a lock or a missing file prevented.
  private static let retryInterval = DispatchTimeInterval.milliseconds(250)

  /// Begins to notice commits; until then only ``refresh()`` looks.
  ///
  /// - Parameter surrounding: runs each turn of the watching thread, which holds nothing then, not
  ///   even ``queue``.
  /// - Throws: `DatabaseAccessError` where there is no database to watch.
  package func startWatching(
    surrounding: @escaping DatabaseWatcher.Surrounding = { $0() }
  ) throws {
    try queue.sync {
      guard watcher == nil, !isStopped else { return }
      let watcher = DatabaseWatcher(
        path: path, queue: queue, surrounding: surrounding,
        letGo: { [weak self] in self?.disconnect() }
      ) { [weak self] event in self?.handle(event) }
      try watcher.start()
      self.watcher = watcher
      // Since the first look at the queries, other files may have come.
      if !isConnectedAsWatched { disconnect() }
      log(.opened(path: path, isWAL: watcher.status.journalMode == .writeAheadLog))
      catchUpOrRetry()
    }
  }

  /// Stops noticing, and lets go of the database.
  package func stop() {
    queue.sync {
      isStopped = true
      for result in live.all { cache(result) }
      ResultsCache.queue.sync {}
      watcher?.stop()
      watcher = nil
      live.removeAll()
      line = WaitingLine()
      disconnect()
    }
  }

  /// Brings all live results up to date if anything was committed since the last refresh.
  ///
  /// Returns at once; the work is done on ``queue``.
  package func refresh() {
    queue.async { [self] in
      isBehind = true
      catchUpOrRetry()
    }
  }

  private func handle(_ event: WatchEvent) {
    dispatchPrecondition(condition: .onQueue(queue))
    switch event {
    case .committed:
      isBehind = true
    case .locked:
      // Tries and waits itself, and says so if that is in vain too.
      break
    case .replaced, .restored:
      log(.replaced)
      isBehind = true
      disconnect()
    case .removed:
      log(.removed)
      disconnect()
      return failAll(
        FetchFailure(
          kind: .unavailable,
          detail: "the database file is gone: put it back, and the queries go on"))
    case .unreadable(let error):
      disconnect()
      let failure = FetchFailure(kind: .unavailable, detail: error.reason)
      note(failure)
      return failAll(failure)
    }
    catchUpOrRetry()
  }

  private func catchUpOrRetry() {
    guard !isStopped else { return }
    guard case .failure(let failure) = attempt({ _ in }) else { return }
    note(failure)
    // Under a lock, and beside the journal of a killed writer, what is shown is the last commit that
    // there is, unless one was noticed before.
    // (An owner in exclusive locking mode may commit on and on; nobody else can see that.)
    if !failure.leavesLastResult || isBehind { failAll(failure) }
    scheduleRetry()
  }

  /// The database cannot be read now.
  func note(_ failure: FetchFailure) {
    if self.failure == nil { log(.failed(failure)) }
    self.failure = failure
  }

  private func failAll(_ failure: FetchFailure) {
    self.failure = failure
    for result in live.all where result.opening == nil {
      live.noteFailure(of: result)
      if result.fail(with: failure) { result.onEvent(.failed(failure)) }
    }
  }

  /// Looks again in a while. Nothing else may: a commit that came during a failure is announced
  /// only once.
  func scheduleRetry() {
    guard !isRetryScheduled else { return }
    isRetryScheduled = true
    queue.asyncAfter(deadline: .now() + Self.retryInterval) { [weak self] in
      self?.isRetryScheduled = false
      self?.catchUpOrRetry()
    }
  }
}
