/// Tells writes to the database file that SQLite's means account for from those that they do not.
///
/// A copy over the file in place (`cp`), a truncation, or a rollback journal that was deleted under
/// a killed writer change the file's content, and no connection that has it open notices: its cache
/// shows the old one. What SQLite writes has a cause: in rollback mode a commit, which the file
/// counts (https://www.sqlite.org/fileformat2.html#file_change_counter); in write-ahead mode a
/// checkpoint, which the wal-index tells of before the first page is written
/// (https://www.sqlite.org/walformat.html#the_wal_index_header). That a look finds a commit is no
/// cause: while a file is being written over, it is empty for a moment, and for that moment another.
///
/// No clock and no file of its own: what was seen comes in as an argument. What is missed: a foreign
/// write between one with a cause and the look that finds this one, unless the cause is a checkpoint
/// that has emptied the log, and nobody commits within half a second. (Of one that leaves it,
/// ``WatchConnection/Log/isWrittenOver(_:)`` knows.)
struct UnexplainedWrites {
  typealias Instant = ContinuousClock.Instant

  /// What accounts for writes: as long as it is the same, nothing has.
  enum Cause: Equatable {
    /// In rollback mode: how many transactions have changed the file, by its own count.
    case changes(UInt32)
    /// In write-ahead mode: which log, how far it was copied to the file, and where commits are
    /// written into the file itself (``WALIndexHeader/inPlaceChange``), their number.
    case log(salts: UInt64, CheckpointProgress, inPlace: UInt32)

    var isUnderWay: Bool {
      if case .log(_, let progress, _) = self { return progress.isUnderWay }
      return false
    }
  }

  /// When a log was emptied, as a checkpoint does behind its last write to the file.
  struct Emptying {
    /// Nanoseconds since 1970, in steps of some milliseconds.
    let time: Int64
    /// Whether what else happened in the same step came before, as far as is known.
    let isLast: Bool

    init(time: Int64, isLast: Bool) { (self.time, self.isLast) = (time, isLast) }

    /// nil: there is no log, or it is not empty.
    init?(of log: FileStatus?, isLast: Bool) {
      guard let log, log.size == 0 else { return nil }
      self.init(time: log.changed, isLast: isLast)
    }

    func isBehind(_ file: FileStatus) -> Bool {
      file.changed < time || file.changed == time && isLast
    }
  }

  /// A file that differs from ``status``.
  private struct Doubt {
    let start: Instant
    /// As it was last seen, and since when.
    var status: FileStatus
    var change: Instant
    /// Whether it was written when no cause was there, whatever came since.
    var isForeign = false
    /// When the log was emptied before that, as far as its time tells, and since when it does.
    var emptied: (time: Int64, start: Instant)?

    /// Whether the log may be emptied just now, so that its time is still to come.
    mutating func mayBeEmptying(_ found: Emptying?, at now: Instant) -> Bool {
      guard let found, found.time < status.changed else { return false }
      let first = emptied.flatMap { $0.time == found.time ? $0.start : nil } ?? now
      emptied = (found.time, first)
      return now - first < UnexplainedWrites.emptyingPatience
    }
  }

  private var status: FileStatus?
  private var cause: Cause?
  private var doubt: Doubt?

  /// How long a file has to be left alone, and how long that is waited for: a copy is to be read once,
  /// and not in the middle of each page.
  private static let quietSpan = Duration.milliseconds(40)
  private static let copyPatience = Duration.milliseconds(400)
  /// How long a checkpoint may be without a write before it is taken for one whose process was
  /// killed: then what is written next is not its work.
  private static let checkpointPatience = Duration.milliseconds(250)
  /// How long an empty log may have the time of its last write. ext4 notes when it emptied a file after
  /// it has freed what was in it, which takes 50 ms for 300 MB.
  private static let emptyingPatience = Duration.milliseconds(500)

  /// Notes what a poll has seen.
  ///
  /// - Parameters:
  ///   - found: the database file.
  ///   - present: the cause at that time.
  ///   - emptied: when the log was emptied, seen after the file; nil: it is not empty, or there is none.
  ///   - isSettled: whether both were the same before and after; else they may not belong together.
  ///   - now: the time.
  /// - Returns: whether the file was written by other means, and seems to be whole again.
  mutating func note(
    _ found: FileStatus, _ present: Cause, emptied: Emptying? = nil, isSettled: Bool,
    at now: Instant
  ) -> Bool {
    let isSettled = isSettled && !present.isUnderWay
    guard let status, let cause else {
      (self.status, self.cause) = (found, present)
      return false
    }
    if found == status {
      doubt = nil
      if isSettled { self.cause = present }
      return false
    }
    var doubt = doubt ?? Doubt(start: now, status: found, change: now)
    if doubt.status != found { (doubt.status, doubt.change) = (found, now) }
    if !doubt.isForeign, present != cause, !accounts(present, for: found, emptied) {
      doubt.isForeign = !doubt.mayBeEmptying(emptied, at: now)
      if !doubt.isForeign {
        self.doubt = doubt
        return false
      }
    }
    self.doubt = doubt
    if !doubt.isForeign, present != cause {
      if isSettled || now - doubt.change >= Self.checkpointPatience { adopt(found, present) }
      return false
    }
    guard now - doubt.change >= Self.quietSpan || now - doubt.start >= Self.copyPatience else {
      return false
    }
    adopt(found, present)
    return true
  }

  /// Whether nothing has happened that accounts for writes.
  func knows(_ present: Cause) -> Bool { status == nil || cause == present }

  /// Notes what a look has seen that found a cause, so that the next write is not taken for its work.
  ///
  /// Both were the same before and after.
  mutating func settle(_ found: FileStatus, _ present: Cause, emptied: Emptying? = nil) {
    guard status != nil else { return adopt(found, present) }
    if !knows(present), !present.isUnderWay, doubt?.isForeign != true,
      accounts(present, for: found, emptied)
    {
      adopt(found, present)
    }
  }

  /// Whether a new cause can have written the file as it was found: a checkpoint that empties the log
  /// (`SQLITE_CHECKPOINT_TRUNCATE`) does so behind its last write to the file, and there is nothing to
  /// be copied until the log is longer again.
  private func accounts(_ present: Cause, for found: FileStatus, _ emptied: Emptying?) -> Bool {
    guard let emptied, case .log(let salts, _, let number) = present else { return true }
    // Commits that are written into the file itself beside an empty log.
    if case .log(salts, _, let before)? = cause, before != 0, before != number { return true }
    return emptied.isBehind(found)
  }

  private mutating func adopt(_ found: FileStatus, _ present: Cause) {
    (status, cause, doubt) = (found, present, nil)
  }
}

/// How far checkpoints have copied a log into the database file.
struct CheckpointProgress: Equatable {
  /// Frames whose pages are in the file.
  var copied: UInt32
  /// Frames that a checkpoint has set out to copy; said before the first page is written.
  var attempted: UInt32

  /// Whether a checkpoint is at work, or was killed at it.
  var isUnderWay: Bool { copied != attempted }
}
