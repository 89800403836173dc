package import GRDB
import Hashing

/// Tells which rows of which tables the commits of any process may have changed, from the pages
/// that they wrote.
///
/// What an owner does, on the queue of one read-only connection:
///
///     let reader = ChangeReader(tables: ["player"])
///     try db.inTransaction {                       // BEGIN DEFERRED, nothing read yet
///       let changes = try reader.changes(in: db)   // up to exactly this transaction's snapshot
///       …                                          // bring up to date what `changes` names
///       reader.commit()                            // only if all of that succeeded
///     }
///
/// If it did not succeed, the next call reports the same changes again together with the new ones.
///
/// How it works, in write-ahead mode: the frames that the log has got since the last look name the
/// pages that changed (``WALReader``); a map tells which b-trees they are in (``BTreePages``); and
/// the rows of a changed leaf are compared with what they were by digests (``CellDigests``). The
/// writer's schema is not touched, and nothing is read but what changed. Databases without a log
/// are compared page by page instead, up to ``Settings/scanLimit``.
///
/// Guarantees:
/// - What is not reported has not changed. Rows that are reported may be as they were.
/// - A file that is damaged, encrypted, or not understood is reported as everything having changed,
///   never by a crash and never by silence.
/// - Both hold for writers with SQLite 3.10 (2016) and later; earlier ones tell of a checkpoint only
///   after it (``FormerPages``), which matters until all of a large table is read.
///
/// What it does not see: commits made through the reading connection itself, other databases that
/// are attached to it, and changes of virtual tables that keep their data elsewhere (those without
/// tables of their own are reported with every commit).
///
/// Cost: O(f + r) for f new frames and r rows on the changed leaves; for a commit of one row some
/// 9 µs, whatever the size of the table, most of it for the transaction itself. A first look reads
/// all interior pages, 1 ms for a million rows; the rows of a large table are read a few pages at a
/// time (``readRowsAhead(atMost:in:)``), 40 ms in all. Until then a commit that writes a page not yet read
/// costs one more read for each, or names the whole table where what was on it is gone. Where the log
/// was lost, the followed tables are read again: 12 ms. Memory: 13 bytes a row of the followed tables,
/// 8 bytes a page, 1.1 MB of buffers.
package final class ChangeReader {
  package struct Settings: Sendable {
    /// The largest database without a log, in pages, whose changes are found by comparing all
    /// pages; 0: none. Each look that finds a commit reads the whole file, 10 ms for 100 MB warm
    /// from the system's cache, and holds a shared lock meanwhile. Beyond, everything is reported.
    package var scanLimit: UInt32 = 65_536
    /// The rows of a table with at most so many pages are read when it is first followed: in a
    /// millisecond. Those of larger ones are left to ``ChangeReader/readRowsAhead(atMost:in:)``.
    package var pagesAtOnce: Int

    /// - Parameter pagesAtOnce: see ``pagesAtOnce``.
    package init(pagesAtOnce: Int = 512) { self.pagesAtOnce = pagesAtOnce }
  }

  package let settings: Settings
  /// The tables whose rows are followed; of others it is only reported that they were touched.
  package private(set) var tables: Set<String>
  package internal(set) var statistics = CaptureStatistics()

  // Everything below is touched on the connection's queue only.
  var followed: FollowedTables
  /// nil: nothing is known, and the next look that finds a commit reports everything.
  var map: DatabaseMap?
  /// Whether the map is missing only because commits came in between.
  var isMapDue = false
  /// Whether the present look has taken a snapshot.
  var isBegun = false
  /// Whether the present look sees no commit, and is only there to load the map.
  var isQuiet = false
  /// What `PRAGMA data_version` said at the last look.
  var version: Int64?
  /// Reported, but not yet committed by the owner.
  var pending = DatabaseChanges.nothing
  /// Reported, but possibly from behind the transaction's snapshot: to be reported once more.
  var carried = DatabaseChanges.nothing
  var leafReader = LeafReader(digest: KeyedHash())
  let buffers = PageBuffers()
  /// Whether there are tables to be followed that are not loaded, or outlines to be kept.
  var isLoadPending = false
  /// The b-trees whose outlines are kept, by folded names.
  var outlined: Set<OutlinedTree> = []
  /// The connection whose transaction the last look was in; nil: the map may be of another commit
  /// than the one that the transaction sees.
  var exactConnection: OpaquePointer?

  package init(tables: Set<String> = [], settings: Settings = Settings()) {
    self.tables = tables
    self.settings = settings
    followed = FollowedTables(tables)
  }

  /// What may have changed since the last call that was followed by ``commit()``, up to the
  /// snapshot of the transaction that `db` is in.
  ///
  /// It should be the transaction's first statement; it then takes the snapshot. After others it is
  /// right as well, but may report changes twice.
  ///
  /// - throws: `DatabaseError` where SQLite cannot read the database; nothing is lost by it.
  package func changes(in db: Database) throws -> DatabaseChanges {
    statistics.looks += 1
    pending.formUnion(try newChanges(in: db))
    return pending
  }

  /// What was reported has been dealt with.
  package func commit() {
    pending = carried
  }

  /// Follows other tables from now on, within the transaction in which ``changes(in:)`` was called.
  ///
  /// Rows of new tables are followed from its snapshot on: what is read of them in this transaction
  /// needs no other look. O(p log p), p the pages of the new tables.
  package func follow(_ tables: Set<String>, in db: Database) throws {
    guard tables != self.tables else { return }
    self.tables = tables
    followed = FollowedTables(tables)
    isLoadPending = map != nil
    try loadFollowedTables(in: db)
  }
}
