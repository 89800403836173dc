import GRDB
import TestSupport

@testable import ChangeCapture

/// Holds the outlines of b-trees against plain SELECTs.
struct OutlineExaminer {
  private struct Order {
    var table: String
    var terms: [String]
    var condition = "1"
  }

  private var compared = 0
  private var entries = 0
  /// Looks whose snapshot the reader did not know.
  private var unknown = 0

  var summary: String {
    "\(compared) outlines of \(entries) entries compared, \(unknown) looks without"
  }

  /// What random statements make no indexes of.
  static let indexes = [
    "CREATE INDEX player_down ON player (score DESC, name COLLATE NOCASE)",
    "CREATE INDEX player_note ON player (length(name), note)",
    "CREATE INDEX player_few ON player (team) WHERE score > 5",
  ]

  private static let orders = [
    "player_note": Order(table: "player", terms: ["length(name)", "note"]),
    "player_few": Order(table: "player", terms: ["team"], condition: "score > 5"),
  ]

  /// All b-trees, and those that may come.
  static func trees(in db: Database) throws -> Set<OutlinedTree> {
    let rows = try Row.fetchAll(db, sql: "SELECT type, name FROM sqlite_master")
    var trees: Set<OutlinedTree> = [.table("sqlite_master")]
    for row in rows {
      trees.insert(row[0] == "index" ? .index(row[1]) : .table(row[1]))
    }
    for table in ["x1", "x2", "x3"] { trees.formUnion([.table(table), .index(table + "_a")]) }
    for table in ["sqlite_stat1", "sqlite_stat4"] { trees.insert(.table(table)) }
    return trees
  }

  /// Within the transaction of a look.
  mutating func examine(
    _ reader: ChangeReader, in db: Database, _ random: inout RandomSource
  ) throws {
    // The reader knows whether it sees what the transaction sees, and then has all outlines.
    let isKnown = reader.map != nil && reader.exactConnection != nil
    if !isKnown { unknown += 1 }
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT type, name, tbl_name, t.sql LIKE '%WITHOUT ROWID%' OR s.rootpage = 0
        FROM sqlite_master s LEFT JOIN (SELECT name AS of, sql FROM sqlite_master
        WHERE type = 'table') t ON t.of = s.tbl_name WHERE type IN ('table', 'index')
        """)
    for row in rows where random.once(in: 2) {
      let (isIndex, name): (Bool, String) = (row[0] == "index", row[1])
      let tree: OutlinedTree = isIndex ? .index(name) : .table(name)
      if row[3] == true || !isKnown {
        guard try reader.entryCount(of: tree, in: db) == nil else {
          throw Examiner.Miss(description: "\(tree) has an outline")
        }
        continue
      }
      let order =
        isIndex ? try Self.order(name, of: row[2], in: db) : Order(table: name, terms: [])
      try compare(tree, order, reader, in: db, &random)
    }
  }

  private static func order(_ index: String, of table: String, in db: Database) throws -> Order {
    if let known = orders[index] { return known }
    let terms = try Row.fetchAll(db, sql: "PRAGMA index_xinfo(\"\(index)\")").compactMap { row in
      row["key"] == true
        ? "\"\(row["name"] as String)\" COLLATE \(row["coll"] as String)"
          + (row["desc"] == true ? " DESC" : "") : nil
    }
    return Order(table: table, terms: terms)
  }

  private mutating func compare(
    _ tree: OutlinedTree, _ order: Order, _ reader: ChangeReader, in db: Database,
    _ random: inout RandomSource
  ) throws {
    let rows = try Int64.fetchAll(
      db,
      sql: """
        SELECT rowid FROM "\(order.table)" NOT INDEXED WHERE \(order.condition)
        ORDER BY \((order.terms + ["rowid"]).joined(separator: ", "))
        """)
    compared += 1
    entries += rows.count
    guard try reader.entryCount(of: tree, in: db) == rows.count else {
      throw Examiner.Miss(
        description: """
          \(tree) has \(rows.count) entries, and \
          \(String(describing: try reader.entryCount(of: tree, in: db))) in its outline
          """)
    }
    let start = random.number(0...rows.count)
    for range in [0..<rows.count, start..<random.number(start...rows.count)] {
      guard try reader.rowIDs(of: tree, at: range, in: db) == Array(rows[range]) else {
        throw Examiner.Miss(description: "other entries of \(tree) at \(range)")
      }
    }
  }
}
