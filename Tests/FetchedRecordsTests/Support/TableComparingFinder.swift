import ChangeCapture
import GRDB
import OrderedResults

@testable import FetchedRecords

/// Finds changed rows by comparing whole tables: slow, simple, and independent of any capture.
///
/// Names some rows that did not change, too, as a capture may.
final class TableComparingFinder: ChangeFinder {
  private typealias Table = [Int64: [Value]]

  private let rowIDTables: [String]
  private let otherTables: [String]
  private var kept: [String: Table]?
  private var latest: [String: Table] = [:]

  init(rowIDTables: [String], otherTables: [String]) {
    self.rowIDTables = rowIDTables
    self.otherTables = otherTables
  }

  func changes(in db: Database) throws -> DatabaseChanges {
    latest = [:]
    for table in rowIDTables { latest[table] = try rows(of: table, rowID: "rowid", in: db) }
    // Numbered by their order: good enough to tell whether anything changed.
    for table in otherTables { latest[table] = try rows(of: table, rowID: "0", in: db) }
    guard let kept else { return .everything(.firstLook) }
    var scopes: [String: TableChanges] = [:]
    for (table, new) in latest where new != kept[table] {
      guard rowIDTables.contains(table) else {
        scopes[table] = .whole(.withoutRowID)
        continue
      }
      let old = kept[table] ?? [:]
      let all = Set(old.keys).union(new.keys)
      scopes[table] = .rows(all.filter { old[$0] != new[$0] || $0 % 7 == 0 }.sorted())
    }
    return .tables(scopes)
  }

  func keep() { kept = latest }

  func follow(_ tables: Set<String>, in db: Database) {}

  var statistics: CaptureStatistics { CaptureStatistics() }

  private func rows(of table: String, rowID: String, in db: Database) throws -> Table {
    let statement = try db.cachedStatement(sql: "SELECT \(rowID), * FROM \(table)")
    statement.bind([:])
    var rows: Table = [:]
    while try statement.step(in: db) {
      let values = (0..<Int32(statement.columnCount)).map(statement.value(at:))
      guard case .integer(let id) = values[0] else { continue }
      rows[rowID == "0" ? Int64(rows.count) : id] = values
    }
    return rows
  }
}
