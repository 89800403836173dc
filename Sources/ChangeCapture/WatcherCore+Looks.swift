import Dispatch

// From a notification to a confirmed commit.
extension WatcherCore {
  /// Something waits in the system's queue of notifications.
  func notified() {
    let touched = readNotifications()
    guard !touched.isEmpty, connection != nil, outbox?.isQueued == false else { return }
    status.counters.wakes += 1
    switch interest(in: touched) {
    case .none: break
    case .once: if case .changed = look() { confirm() }
    case .untilAnswered:
      looks.notified(at: .now)
      search()
    }
  }

  private func readNotifications() -> TouchedFiles {
    guard let touched = directory?.read(), !touched.isEmpty else { return [] }
    if touched.contains(.overflow) { status.counters.overflows += 1 }
    if touched.contains(.log), status.journalMode == .rollbackJournal { status.journalMode = nil }
    if !touched.isDisjoint(with: [.entry, .directory]) { checkFile(reportsLoss: false) }
    return touched
  }

  private enum Interest {
    case none
    case once
    case untilAnswered
  }

  /// How likely notifications announce a commit.
  private func interest(in touched: TouchedFiles) -> Interest {
    if status.journalMode == .rollbackJournal {
      // A writer's first write to the database file comes when it has the exclusive lock: looks
      // fail until it is done, and disturb nobody. Its writes to the journal come before, when a
      // look's shared lock could make its commit fail: so they are no reason to look.
      return touched.contains(.database) || looks.isRunning ? .untilAnswered : .none
    }
    // In write-ahead mode the database file itself is only written by checkpoints; one look, in
    // case the mode is not what it was.
    return touched.contains(.log) ? .untilAnswered : .once
  }

  /// Looks until there is an answer or the schedule says that a timer will do.
  ///
  /// Notifications that came before a look are answered by it: all of a commit's come before the
  /// commit is visible, and left in the queue they would set off another search in vain.
  func search() {
    while true {
      _ = readNotifications()
      guard connection != nil, looks.isRunning, outbox?.isQueued == false else { return }
      switch look() {
      case .changed: return confirm()
      case .unchanged where status.journalMode == .rollbackJournal:
        // The writer has let go of its lock without a commit.
        return looks.stop()
      case .unchanged, .busy, .unreadable: break
      }
      switch looks.next(at: .now) {
      case .pause(let duration): SystemCalls.pause(duration)
      case .timer(let duration): return lookLater(after: duration)
      case .leaveToPoll: return
      }
    }
  }

  func lookLater(after duration: Duration) {
    lookTimer?.schedule(deadline: .now() + duration.dispatchInterval, leeway: .nanoseconds(0))
  }

  func look() -> CommitDetector.Answer {
    guard let answer = connection?.look() else { return .unchanged }
    status.counters.looks += 1
    switch answer {
    case .busy: status.counters.busyLooks += 1
    case .unreadable: isUnreadable = true
    case .changed, .unchanged:
      guard isUnreadable else { break }
      isUnreadable = false
      // That it can be read again is more than any commit.
      outbox?.post { $0.opened() }
      return .unchanged
    }
    return answer
  }

  /// Tells the owner of a commit, and listens no more until it has taken the news.
  ///
  /// Notifications of further commits stay in the system's queue meanwhile and are read then, so
  /// that a writer who commits all the time costs one look for each refresh.
  func confirm() {
    status.counters.commits += 1
    looks.stop()
    refreshJournalMode()
    directory?.suspend()
    outbox?.post { $0.committed() }
  }

  /// Asks again where the mode may be another one now.
  ///
  /// A database leaves write-ahead mode only when nobody has it open, but it may enter it: then
  /// there is a log. In rollback mode the question takes a lock, so it is not asked without need.
  private func refreshJournalMode() {
    guard status.journalMode != .writeAheadLog else { return }
    if status.journalMode == nil || directory?.isWatching != true {
      status.journalMode = connection?.journalMode()
    }
  }
}
