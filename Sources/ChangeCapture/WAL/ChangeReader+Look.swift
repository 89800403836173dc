import GRDB
import GRDBSQLite

/// The beginning of a look: which state of the database the transaction sees.
///
/// SQLite does not tell which state of the log a transaction reads. So the header of the wal-index
/// is read before the transaction takes its snapshot and again after: where both are equal, that is
/// the snapshot. Where they differ, it is one of those from the first to the second. Then the
/// changes of each commit up to the second are reported; as those from behind the snapshot cannot be
/// seen in it yet, all from behind the first are reported once more next time.
extension ChangeReader {
  struct Look {
    var files: DatabaseFiles
    var wal: WALReader
    /// nil: the database has no log.
    var header: WALIndexHeader?
    /// What the log held before the transaction took its snapshot; nil: that is not known.
    var before: WALIndexHeader?
    /// Whether the snapshot is exactly what `header` names.
    var isExact: Bool { before == header }
  }

  /// The changes since the last look, whether it was committed or not.
  func newChanges(in db: Database) throws -> DatabaseChanges {
    isBegun = false
    do {
      guard let look = try look(in: db) else { return .nothing }
      exactConnection = look.isExact ? db.sqliteConnection : nil
      if isQuiet {
        // Nothing was committed, so nothing is left to be told.
        if look.isExact { map = try load(look, in: db) }
        return .nothing
      }
      statistics.commits += 1
      return try changes(look, in: db)
    } catch let doubt as CaptureDoubt {
      let changes = everything(doubt)
      return isQuiet ? .nothing : changes
    } catch {
      // Whatever this look has seen must be seen by the next one.
      if isBegun { (map, version) = (nil, nil) }
      throw error
    }
  }

  private func changes(_ look: Look, in db: Database) throws -> DatabaseChanges {
    var reasons: DatabaseChanges.Reasons = .firstLook
    do {
      if let map {
        let changes = try follow(look, map, in: db)
        if isLoadPending { try loadFollowedTables(look) }
        return changes
      }
      statistics.count("firstLook")
    } catch let doubt as CaptureDoubt {
      reasons = everything(doubt).reasons
    }
    // From here on, at least.
    do {
      map = try load(look, in: db)
      if let header = look.header, !look.isExact, case .log(let start) = map?.position {
        _ = try followCommits(look, header, from: start, in: db)
      }
      return .everything(reasons)
    } catch let doubt as CaptureDoubt {
      return .everything(everything(doubt).reasons.union(reasons))
    }
  }

  private func everything(_ doubt: CaptureDoubt) -> DatabaseChanges {
    map = nil
    isMapDue = doubt == .snapshotUnknown
    carried = .nothing
    statistics.count(doubt.rawValue)
    return .everything(DatabaseChanges.Reasons(doubt))
  }

  /// Takes the snapshot; nil: it shows what the last look saw.
  private func look(in db: Database) throws -> Look? {
    guard let connection = db.sqliteConnection else { throw CaptureDoubt.noFile }
    let state = sqlite3_txn_state(connection, "main")
    let isFirstStatement = state == SQLITE_TXN_NONE
    // What was carried is in the log for good before a transaction that only begins now.
    if isFirstStatement { carried = .nothing }
    let before = isFirstStatement ? headerBefore(connection) : nil
    let isSame = try touch(db)
    isBegun = true
    guard state != SQLITE_TXN_WRITE else { throw CaptureDoubt.ownTransaction }
    isQuiet = isSame && map == nil
    if isQuiet, !isMapDue { return nil }

    let files = try DatabaseFiles(of: connection)
    var wal = WALReader(files, buffers: buffers)
    guard files.hasJournal else {
      if case .file(let version) = map?.position,
        try SnapshotPages.fileHeader(files, buffers).version == version
      {
        exactConnection = connection
        return nil
      }
      return Look(files: files, wal: wal)
    }
    if case .file = map?.position {
      statistics.count(CaptureDoubt.otherLayout.rawValue)
      map = nil
    }
    guard let after = try wal.header() else { throw CaptureDoubt.snapshotUnknown }
    if map?.position == .log(after) {
      // The map was there before the transaction, and nothing has come since.
      if isFirstStatement { exactConnection = connection }
      return nil
    }
    return Look(files: files, wal: wal, header: after, before: before)
  }

  /// The wal-index header before the transaction; nil: there is none, or it cannot be read.
  ///
  /// Whether there is a log, SQLite tells, and not the mark in the database file: one that merely
  /// lies beside the file is used as well. Nothing but a log is ever open as the journal of a
  /// connection that only reads. (One that is not open yet must not be asked for: that would make
  /// an index where there is none.)
  private func headerBefore(_ connection: OpaquePointer) -> WALIndexHeader? {
    guard let files = try? DatabaseFiles(of: connection), files.hasJournal else { return nil }
    var wal = WALReader(files, buffers: buffers)
    return (try? wal.header()) ?? nil
  }

  /// Takes the snapshot, and tells whether it is the same as at the last look.
  func touch(_ db: Database) throws -> Bool {
    let seen = try db.dataVersion()
    defer { version = seen }
    return seen == version
  }
}
