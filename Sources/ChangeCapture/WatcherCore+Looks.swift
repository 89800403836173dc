// From a notification to a confirmed commit.
extension WatcherCore {
  /// Reads the notifications that wait, and looks for a commit if they, or those before them, call
  /// for it.
  ///
  /// Notifications that came before a look are answered by it: all of a commit's come before the
  /// commit is visible, and left in the queue they would set off another search in vain.
  func readAndLook() {
    let touched = readNotifications()
    guard connection != nil else { return }
    if !touched.isEmpty {
      status.statistics.wakes += 1
      if touched.contains(.database) { connection?.settleCheckpoint() }
      switch interest(in: touched) {
      case .none: break
      case .once: if case .changed = look() { return confirm() }
      case .untilAnswered:
        looks.notified(at: .now)
        return search()
      }
    }
    switch nextLook {
    case nil: break
    case .after: search()
    case .at(let time): if time <= .now { search() }
    }
  }

  private func readNotifications() -> TouchedFiles {
    guard let touched = directory?.read(), !touched.isEmpty else { return [] }
    if touched.contains(.overflow) { status.statistics.overflows += 1 }
    if !touched.isDisjoint(with: [.entry, .directory]) { checkFiles(reportsLoss: false) }
    return touched
  }

  private enum Interest {
    case none
    case once
    case untilAnswered
  }

  /// How likely notifications announce a commit.
  private func interest(in touched: TouchedFiles) -> Interest {
    if connection?.journalMode == .rollbackJournal {
      // A writer's first write to the database file comes when it has the exclusive lock: looks
      // fail until it is done, and disturb nobody. Its writes to the journal come before, when a
      // look's shared lock could make its commit fail: so they are no reason to look.
      // A log that comes to lie there makes SQLite go over to it.
      return !touched.isDisjoint(with: [.database, .log, .entry]) || looks.isRunning
        ? .untilAnswered : .none
    }
    // In write-ahead mode the database file itself is only written by checkpoints; one look, in
    // case the mode is not what it was.
    return touched.contains(.log) ? .untilAnswered : .once
  }

  /// Looks once; if there is no answer, the schedule says when to look again.
  private func search() {
    nextLook = nil
    guard looks.isRunning else { return }
    let file = connection?.fileBeforeLook
    switch look() {
    case .changed:
      connection?.settleCommit(file)
      connection?.settleCheckpoint()
      return confirm()
    case .unchanged where connection?.journalMode == .rollbackJournal:
      // The writer has let go of its lock without a commit.
      return looks.stop()
    case .unchanged, .busy, .hotJournal, .unreadable: break
    }
    let now = ContinuousClock.now
    switch looks.next(at: now) {
    case .pause(let duration): nextLook = .after(duration)
    case .timer(let duration): nextLook = .at(now + duration)
    case .leaveToPoll: break
    }
  }

  func look(readsFile: Bool = false) -> CommitDetector.Answer {
    // That a file can be read again, or is no longer locked, only reading it tells.
    let readsFile = readsFile || isUnreadable || lock != nil
    guard let answer = connection?.look(readsFile: readsFile) else { return .unchanged }
    status.statistics.looks += 1
    switch answer {
    case .busy, .hotJournal:
      status.statistics.busyLooks += 1
      if lock == nil { lock = Lock(isHotJournal: answer == .hotJournal) }
    case .unreadable: isUnreadable = true
    case .changed, .unchanged:
      lock = nil
      guard isUnreadable else { break }
      isUnreadable = false
      // That it can be read again is more than any commit.
      news.opened()
      return .unchanged
    }
    return answer
  }

  /// A commit was found, which the owner is to hear of.
  func confirm() {
    status.statistics.commits += 1
    looks.stop()
    nextLook = nil
    news.committed()
  }
}
