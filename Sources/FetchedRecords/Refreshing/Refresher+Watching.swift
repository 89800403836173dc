import ChangeCapture
import Dispatch

// Noticing what any process does to the database.
extension Refresher {
  /// How long to wait before trying again what a lock prevented.
  private static let retryInterval = Duration.milliseconds(250)
  /// The longest wait for what may last, as a damaged file does: it doubles from that of a lock to this.
  private static let longestRetryInterval = Duration.seconds(4)

  /// Begins to notice commits; until then only ``refresh()`` looks.
  ///
  /// - Throws: `DatabaseAccessError` where there is no database to watch.
  package func startWatching() throws {
    try access.sync {
      guard !isWatching, !isStopped else { return }
      try access.startWatching(letGo: { [weak self] in self?.disconnect() }) {
        [weak self] event in
        guard let sleepers = self?.handle(event), !sleepers.isEmpty else { return nil }
        return { sleepers.serveHere() }
      }
      isWatching = true
      // Since the first look at the queries, other files may have come.
      if access.isOutdated { disconnect() }
      log(.opened(path: path, isWAL: access.isWriteAheadLog))
      catchUpOrRetry()
    }
  }

  /// Stops noticing, and lets go of the database.
  package func stop() {
    access.sync {
      isStopped = true
      for result in live.all { result.listener.save(result) }
      ResultsCache.queue.sync {}
      access.stopWatching()
      for result in live.all {
        letGo(result)
        // Those that are shown together hold one another, and nobody may come to unbind them.
        result.companions = [:]
      }
      live.removeAll()
      line = WaitingLine()
      disconnect()
    }
  }

  /// Brings all live results up to date if anything was committed since the last refresh.
  ///
  /// Returns at once; the work is done on ``queue``.
  ///
  /// - Parameter everything: whether anything may have changed, whatever was committed.
  package func refresh(everything: Bool = false) {
    access.async { [weak self] in
      self?.isBehind = true
      if everything { self?.isEverythingNew = true }
      self?.catchUpOrRetry()
    }
  }

  /// Brings all live results up to date, if the notification of a commit is still on its way: whoever
  /// asks after a commit has returned is answered as of that commit.
  ///
  /// In a turn, on ``queue``. In rollback mode notifications alone tell.
  package func catchUpWithWriters() {
    access.preconditionInTurn()
    guard access.hasUnseenCommit else { return }
    isBehind = true
    catchUpOrRetry()
  }

  /// What a commit changed is shown to its few streams by the thread that noticed the commit.
  ///
  /// - Returns: who has something to do because of it.
  private func handle(_ event: WatchEvent) -> Sleepers {
    leavesSleepers = true
    defer { leavesSleepers = false }
    follow(event)
    return sleepers.take()
  }

  private func follow(_ event: WatchEvent) {
    access.preconditionInTurn()
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
      if let failure = access.misplacement { return failAll(failure) }
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
    guard !isStopped, !isIdle else { return }
    // Nothing in it needs the log, whose state takes half a microsecond.
    guard case .failure(let failure) = attempt(notesLog: false, { _ in }) else { return }
    // Somebody's transaction is under way on the connection; its end refreshes again.
    if (failure.cause as? FetchedRecordsError)?.kind == .transaction { return }
    note(failure)
    // Under a lock, and beside the journal of a killed writer, what is shown is the last commit that
    // there is, unless one was noticed before.
    // (An owner in exclusive locking mode may commit on and on; nobody else can see that.)
    if !failure.leavesLastResult || isBehind { failAll(failure) }
    // Pages that were read in the middle of a copy stay in the connection's cache as long as the header
    // of the file says what it said then: another connection reads the file itself.
    if !failure.leavesLastResult { disconnect() }
    scheduleRetry()
  }

  /// Whether nobody would hear of a change, not even of one of the schema.
  private var isIdle: Bool { live.isEmpty && catalog.isEmpty }

  /// The database cannot be read now.
  func note(_ failure: FetchFailure) {
    let isNews = self.failure == nil
    self.failure = failure
    // Whoever reads the log may ask then.
    if isNews { log(.failed(failure)) }
  }

  private func failAll(_ failure: FetchFailure) {
    self.failure = failure
    for result in live.all where result.opening == nil {
      live.noteFailure(of: result)
      if result.fail(with: failure) { pending.append((result, .failed(failure))) }
    }
    announce()
  }

  /// Looks again in a while. Nothing else may: a commit that came during a failure is announced
  /// only once.
  func scheduleRetry() {
    guard !isRetryScheduled else { return }
    isRetryScheduled = true
    let interval: Duration
    if failure?.leavesLastResult == false {
      interval = min(Self.retryInterval * (1 << min(retries, 8)), Self.longestRetryInterval)
      retries += 1
    } else {
      interval = Self.retryInterval
    }
    access.async(after: .milliseconds(Int(interval / .milliseconds(1)))) { [weak self] in
      self?.isRetryScheduled = false
      self?.catchUpOrRetry()
    }
  }
}
