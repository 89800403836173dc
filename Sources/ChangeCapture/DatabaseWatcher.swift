package import Dispatch
import Locks

/// Notices that any process has committed to an SQLite database file.
///
/// It never writes, and keeps no descriptor of its own on the database's files: it looks through a
/// read-only connection of its own, woken by the system's notifications for the file's directory,
/// with a slow poll as the net. A thread of its own does the waiting; looks and callbacks happen on
/// the owner's queue, where they wait for whatever else it does.
///
/// What an owner does:
///
///     let watcher = DatabaseWatcher(path: path, queue: queue) { event in
///       // On `queue`. What the event is about is visible to a transaction that begins now.
///       return nil
///     }
///     try watcher.start()
///     // First fetch: what is committed from `start` on is reported.
///     watcher.stop()
///
/// Guarantees:
/// - No commit is missed: each is visible to a read transaction begun in the callback for it, or
///   in the callback for one before it.
/// - At most one callback is under way. Commits are joined until it begins.
/// - A rolled-back transaction, a reader and a checkpoint that leaves the log as it is are no
///   reason for a callback.
///
/// Limits:
/// - A callback may find nothing new: where a commit was already visible in the callback before
///   (a ``CommitDetector`` on the reading connection tells), and where a writer begins the log
///   anew after a checkpoint (which to `data_version` and in the wal-index is a change).
/// - Where the system does not notify (network file systems, bind mounts, macOS), a commit is
///   noticed by the poll: half of ``Settings/pollInterval`` after it on average.
/// - A file overwritten in place (`cp`) right after a checkpoint or a commit may go unnoticed
///   until the next commit. Replace it with `mv`, or use SQLite's backup.
/// - While it runs, a database in write-ahead mode cannot be changed to another mode.
/// - Who cuts off the log's index (`-shm`) ends every process that uses it (SIGBUS): it is shared
///   memory. Where the system tells of it in time, the watcher lets go of it first.
/// - In rollback mode a look takes a shared lock, as every read does: a writer without a busy
///   timeout that commits again and again without a pause saw `SQLITE_BUSY` for 2–5 % of its
///   commits. In write-ahead mode nobody is disturbed.
package final class DatabaseWatcher: Sendable {
  /// What may be set.
  package struct Settings: Sendable {
    /// How often to look where no notification comes.
    ///
    /// Default 50 ms: 0.2–0.4 % of a core, and still prompt for a person where nothing else works.
    /// It is also how soon a missing or unreadable file is reported.
    package var pollInterval: Duration
    /// Whether to use the system's notifications; without them there is only the poll.
    package var usesNotifications: Bool

    package init(pollInterval: Duration = .milliseconds(50), usesNotifications: Bool = true) {
      precondition(pollInterval > .zero, "a poll takes time")
      self.pollInterval = pollInterval
      self.usesNotifications = usesNotifications
    }
  }

  /// What is left to do when the turn is over: the watcher's thread does it, which holds nothing
  /// then, not even the queue.
  package typealias Afterwards = @Sendable () -> Void

  private enum Life {
    case new
    case running
    case ended
  }

  private let core: WatcherCore
  private let waker = ThreadWaker()
  private let life = Mutex(Life.new)

  /// - Parameters:
  ///   - path: a file, or a symbolic link to one.
  ///   - queue: a serial queue, on which the watcher works and `handler` is called.
  ///   - settings: how to look.
  ///   - letGo: called before the watcher opens the database anew, on the queue: the owner closes
  ///     its own connections, and opens them when the handler is called.
  ///   - handler: called when the owner should read the database anew; returns what is left to do
  ///     afterwards.
  package init(
    path: String, queue: DispatchQueue, settings: Settings = Settings(),
    letGo: @escaping @Sendable () -> Void = {},
    handler: @escaping @Sendable (WatchEvent) -> Afterwards?
  ) {
    core = WatcherCore(path: path, queue: queue, settings: settings, letGo: letGo, handler: handler)
  }

  deinit { stop() }

  /// Begins to watch: commits from now on are reported.
  ///
  /// From any thread, once; waits for the queue.
  ///
  /// - throws: a ``DatabaseAccessError`` that says what to do, if there is no database to watch. A
  ///   database that is merely locked is waited for.
  package func start() throws(DatabaseAccessError) {
    let result = core.executor.sync {
      core.assumeIsolated { core in
        Result { () throws(DatabaseAccessError) in try core.start() }
      }
    }
    try result.get()
    life.withLock { life in
      precondition(life == .new, "a watcher starts once")
      life = .running
      WatchThread.start(core, waker: waker)
    }
  }

  /// Ends watching; no callback begins after this.
  ///
  /// From any thread, any number of times. The connection is closed soon after, on the queue.
  package func stop() {
    life.withLock { life in
      switch life {
      case .new:
        core.executor.sync { core.assumeIsolated { $0.finish() } }
        waker.close()
      case .running:
        core.isStopped.store(true, ordering: .releasing)
        waker.wake()
      case .ended: break
      }
      life = .ended
    }
  }

  /// Whether something was committed that the handler was not told of yet: it will be soon.
  ///
  /// On the queue only. A comparison of 48 bytes of shared memory, in write-ahead mode; in rollback mode,
  /// where it would take a lock, always false.
  package var hasUnseenCommit: Bool { core.assumeIsolated { $0.hasUnseenCommit } }

  /// How the watcher fares; from any thread.
  package var status: WatcherStatus { core.published.withLock { $0 } }
}
