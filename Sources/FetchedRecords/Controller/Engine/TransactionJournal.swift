import ChangeCapture
import Foundation
import GRDB
import GRDBSQLite
import Locks
import OrderedResults
import QueryAnalysis

/// Which rows the writer's own transactions changed, as the connection tells while they run.
///
/// SQLite's update hook, which GRDB passes on, is silent about rows that REPLACE deletes and about
/// tables WITHOUT ROWID, and tells only the new rowid where a key changes. The preupdate hook tells
/// all of it (https://www.sqlite.org/c3ref/preupdate_blobwrite.html); where the SQLite library
/// lacks it, tables are taken as a whole.
///
/// A connection has one preupdate hook: on the writer that it listens to, nobody else can have one.
// Safe to share: used inside the writer's accesses only.
final class TransactionJournal: ChangeFinder, @unchecked Sendable {
  private let isFile: Bool
  private var followed: Set<String> = []
  private var tablesWithoutRowID: Set<String> = []
  private var entries: [String: TableEntry] = [:]
  /// Of transactions that were committed, and not kept by the engine yet.
  private var pending = DatabaseChanges.everything(.firstLook)
  private var others = CommitDetector()
  private var schemaNumber: Int64?
  private var isListening = false

  /// What the present transaction does to one table.
  private enum TableEntry {
    case rows([Int64])
    case whole(TableChanges.Reason)
  }

  /// More rows than this, and the table is taken as a whole rather than remembered row by row.
  private static let maximumRowCount = 100_000

  init(isFile: Bool) { self.isFile = isFile }

  // MARK: - Listening

  func listen(to writer: any DatabaseWriter) {
    isListening = writer.unsafeReentrantWrite { db in
      PreupdateHook.install(on: db.sqliteConnection, for: self)
    }
  }

  func stopListening(to writer: any DatabaseWriter) {
    // Holds the journal until nobody calls it.
    writer.asyncWriteWithoutTransaction { [self] db in
      if isListening { PreupdateHook.remove(from: db.sqliteConnection) }
      isListening = false
    }
  }

  /// A statement that may write to a table begins.
  func willWrite(to table: String) {
    if !isListening { entries[table] = .whole(.notFollowed) }
  }

  /// A row is about to change.
  ///
  /// Its rowids have no meaning for a table without them.
  func rowWillChange(_ table: String, _ old: Int64?, _ new: Int64?) {
    guard !tablesWithoutRowID.contains(where: { $0.isSameIdentifier(as: table) }) else {
      return entries[table] = .whole(.withoutRowID)
    }
    guard followed.contains(where: { $0.isSameIdentifier(as: table) }) else {
      return entries[table] = .whole(.notFollowed)
    }
    switch entries[table, default: .rows([])] {
    case .whole: return
    case .rows(var rows):
      entries[table] = nil
      if let old { rows.append(old) }
      if let new, new != old { rows.append(new) }
      entries[table] = rows.count > Self.maximumRowCount ? .whole(.notFollowed) : .rows(rows)
    }
  }

  func didCommit() {
    pending.formUnion(
      .tables(
        entries.mapValues { page in
          switch page {
          case .rows(let rows): .rows(Set(rows).sorted())
          case .whole(let reason): .whole(reason)
          }
        }))
    entries = [:]
  }

  func didRollback() { entries = [:] }

  // MARK: - ChangeFinder

  func changes(in db: Database) throws -> DatabaseChanges {
    if isFile { pending.formUnion(try others.changes(db)) }
    // The hook is silent about the schema's own table, about DROP TABLE, VACUUM, and a backup over it.
    let number = try db.schemaNumber()
    if number != schemaNumber { pending.formUnion(.everything([.commit])) }
    schemaNumber = number
    return pending
  }

  func keep() { pending = .nothing }

  func follow(_ tables: Set<String>, in db: Database) throws {
    followed = tables
    tablesWithoutRowID = try tables.filter { try TableKey.isMissingRowID($0, in: db) }
  }

  var statistics: CaptureStatistics { CaptureStatistics() }
}
