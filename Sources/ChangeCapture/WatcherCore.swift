import Dispatch
import Locks

/// The watcher at work, on the owner's queue; everything in here is isolated to it.
///
/// It works in turns, each of which does what is due (`+Looks`: notifications and the looks that
/// follow them; `+Poll`), tells the owner what came of it, and says what to wait for.
actor WatcherCore {
  nonisolated let executor: QueueExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  let path: String
  let settings: DatabaseWatcher.Settings
  /// Closes the owner's connections.
  let letGo: @Sendable () -> Void
  private let handler: @Sendable (WatchEvent) -> DatabaseWatcher.Afterwards?
  /// The system's queue of notifications, -1 where there is none. Closed with the last turn.
  nonisolated let descriptor: Int32
  /// Set from any thread: the next turn is the last.
  nonisolated let isStopped = Atomic(false)
  /// As of the end of the last turn.
  nonisolated let published = Mutex(WatcherStatus())

  /// nil: notifications are not to be had, or not wanted.
  var directory: DirectoryWatch?
  /// nil: there is no file that can be read now.
  var connection: WatchConnection?
  /// What the owner has not heard yet.
  var news = PendingNews()
  /// Whether the last look failed for another reason than a lock.
  var isUnreadable = false
  /// When to try again to open what could not be opened; nil: at once.
  var nextOpening: ContinuousClock.Instant?
  var reopenings = Reopenings()
  /// The lock that keeps looks from an answer.
  var lock: Lock?
  var looks: LookSchedule
  /// When ``looks`` wants the next look; nil: it wants none.
  var nextLook: LookTime?
  private var nextPoll = ContinuousClock.now
  /// What the poll knows of a rollback-mode file.
  var lastPoll: (status: FileStatus, time: ContinuousClock.Instant)?
  var status = WatcherStatus()

  /// A lock, or a hot journal, that looks have met.
  struct Lock {
    let isHotJournal: Bool
    let start = ContinuousClock.now
    var isReported = false

    /// For a lock longer than any transaction that does not hold others up: SQLite's writers and
    /// readers commonly wait for some seconds. A journal may seem hot for as long as its writer takes
    /// to delete it (`hasHotJournal` in pager.c).
    var patience: Duration { isHotJournal ? .milliseconds(250) : .seconds(1) }
  }

  /// When to look again.
  enum LookTime {
    /// After a wait too short to listen meanwhile.
    case after(Duration)
    case at(ContinuousClock.Instant)
  }

  init(
    path: String, queue: DispatchQueue, settings: DatabaseWatcher.Settings,
    letGo: @escaping @Sendable () -> Void,
    handler: @escaping @Sendable (WatchEvent) -> DatabaseWatcher.Afterwards?
  ) {
    executor = QueueExecutor(queue)
    self.path = path
    self.settings = settings
    self.letGo = letGo
    self.handler = handler
    looks = LookSchedule(pollInterval: settings.pollInterval)
    guard settings.usesNotifications else {
      descriptor = -1
      status.notificationTrouble = "not wanted"
      return
    }
    switch OperatingSystem.openNotifications() {
    case .unavailable(let reason):
      descriptor = -1
      status.notificationTrouble = reason
    case .watching(let opened):
      descriptor = opened
      directory = DirectoryWatch(descriptor: opened)
    }
  }

  /// Opens the database.
  ///
  /// If it cannot, there are no turns to take.
  func start() throws(DatabaseAccessError) {
    // The directory first: what happens while the connection opens is then noticed too.
    followDirectory()
    try openAtStart()
    nextPoll = .now + settings.pollInterval
    publish()
  }

  func finish() {
    connection?.close()
    connection = nil
    directory?.close()
    directory = nil
  }

  /// What follows a turn: the wait for the next, and before it what the owner left to do.
  typealias Rest = (wait: WatchThread.Wait, afterwards: DatabaseWatcher.Afterwards?)

  /// Does what is due, on the queue; returns nil where it was the last turn.
  nonisolated func takeTurn() -> Rest? {
    var rest: Rest?
    // With a result `sync` is generic, and looks up its types each time.
    executor.sync { rest = assumeIsolated { $0.turn() } }
    return rest
  }

  private func turn() -> Rest? {
    if isStopped.load(ordering: .acquiring) {
      finish()
      return nil
    }
    readAndLook()
    let now = ContinuousClock.now
    if nextPoll <= now {
      nextPoll = now + settings.pollInterval
      poll()
    }
    publish()
    let afterwards = tell()
    return (wait, afterwards)
  }

  private var wait: WatchThread.Wait {
    switch nextLook {
    case .after(let duration): .pause(duration)
    case .at(let time): .notification(until: min(time, nextPoll))
    case nil: .notification(until: nextPoll)
    }
  }

  /// Tells the owner what it has not heard yet.
  ///
  /// Notifications of further commits stay in the system's queue meanwhile and are read in the next
  /// turn, so that a writer who commits all the time costs one look for each refresh.
  private func tell() -> DatabaseWatcher.Afterwards? {
    guard let event = news.take(), !isStopped.load(ordering: .acquiring) else { return nil }
    let now = ContinuousClock.now
    let afterwards = handler(event)
    // Without a file there is nothing to look at, and no look would come to an end.
    if directory != nil, let connection, connection.journalMode != .rollbackJournal,
      !looks.isRunning
    {
      looks.reported(at: now)
      nextLook = .at(now + LookSchedule.firstLookAfterReport)
    }
    return afterwards
  }

  /// Whether something was committed that no look has found yet.
  var hasUnseenCommit: Bool { connection?.hasUnseenCommit ?? false }

  private func publish() {
    status.journalMode = connection?.journalMode
    status.identity = connection?.identity
    let status = status
    published.withLock { $0 = status }
  }
}
