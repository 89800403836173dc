import Dispatch

/// The watcher at work, on its own queue; everything in here is isolated to it.
///
/// Three things set it in motion: notifications (`+Looks`), the poll (`+Poll`), and the owner's
/// taking of an event. All that comes out goes through the outbox.
actor WatcherCore {
  nonisolated let executor = QueueExecutor(label: "didchange.watch")
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  let path: String
  let settings: DatabaseWatcher.Settings

  /// nil before the start and after the end.
  var outbox: EventOutbox?
  /// nil: notifications are not to be had, or not wanted.
  var directory: DirectoryWatch?
  /// nil: there is no file that can be read now.
  var connection: WatchConnection?
  /// Whether the last look failed for another reason than a lock.
  var isUnreadable = false
  var looks: LookSchedule
  /// Fires once, when ``looks`` says so.
  var lookTimer: (any DispatchSourceTimer)?
  var pollTimer: (any DispatchSourceTimer)?
  /// What the poll knows of a rollback-mode file.
  var lastPoll: (status: FileStatus, time: ContinuousClock.Instant)?
  var status = WatcherStatus()
  /// Whether there are sources and a connection to give back.
  private var isRunning = false

  init(path: String, settings: DatabaseWatcher.Settings) {
    self.path = path
    self.settings = settings
    looks = LookSchedule(pollInterval: settings.pollInterval)
  }

  deinit {
    let isRunning = isRunning
    assert(!isRunning, "a watcher is stopped before it is let go")
  }

  func start(outbox: EventOutbox) throws(DatabaseAccessError) {
    precondition(!isRunning, "a watcher starts once")
    isRunning = true
    // The directory first: what happens while the connection opens is then noticed too.
    startNotifications()
    do {
      try openAtStart()
    } catch {
      stop()
      throw error
    }
    self.outbox = outbox
    lookTimer = timer { $0.search() }
    pollTimer = timer { $0.poll() }
    let interval = settings.pollInterval.dispatchInterval
    pollTimer?.schedule(
      deadline: .now() + interval, repeating: interval,
      leeway: (settings.pollInterval / 10).dispatchInterval)
  }

  func stop() {
    isRunning = false
    outbox = nil
    directory?.cancel()
    directory = nil
    lookTimer?.cancel()
    lookTimer = nil
    pollTimer?.cancel()
    pollTimer = nil
    connection?.close()
    connection = nil
  }

  /// The owner has an event in hands and will read the database now.
  func ownerTook() {
    guard let directory else { return }
    directory.resume()
    guard status.journalMode != .rollbackJournal, !looks.isRunning else { return }
    looks.reported(at: .now)
    lookLater(after: LookSchedule.firstLookAfterReport)
  }

  private func startNotifications() {
    guard settings.usesNotifications else {
      status.notificationTrouble = "not wanted"
      return
    }
    switch SystemCalls.openNotifications() {
    case .unavailable(let reason): status.notificationTrouble = reason
    case .watching(let descriptor):
      directory = DirectoryWatch(descriptor: descriptor, queue: executor.queue) { [weak self] in
        self?.assumeIsolated { $0.notified() }
      }
      followDirectory()
    }
  }

  private func timer(
    _ handler: @escaping @Sendable (isolated WatcherCore) -> Void
  ) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(flags: .strict, queue: executor.queue)
    timer.setEventHandler { [weak self] in self?.assumeIsolated { handler($0) } }
    timer.schedule(deadline: .distantFuture)
    timer.activate()
    return timer
  }
}

extension Duration {
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}
