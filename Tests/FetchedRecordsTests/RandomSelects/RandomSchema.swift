import QueryAnalysis
import TestSupport

@testable import FetchedRecords

/// A schema that nobody thought of: tables with names, types, collations, keys and indexes by chance,
/// and views of them.
struct RandomSchema {
  struct Column {
    let name: String
    /// Behind its name: type, collation, constraints.
    let declaration: String
    /// Whether values are equal only if they look the same.
    let isExact: Bool
    var isIndexed = false
  }

  /// Expressions over a table whose values look the same where they are equal; each has an index.
  static let expressions = [
    "lower(%)", "substr(%, 1, 1)", "length(%)", "CASE WHEN % > 2 THEN 'many' ELSE 'few' END",
    "CAST(% AS TEXT)", "CAST(% AS INTEGER)", "% IS NULL", "% > 2", "'x' || %",
  ]

  struct Table {
    let name: String
    let columns: [Column]
    /// What identifies a row by itself; nil: nothing that can be named.
    let rowID: String?
    let isView: Bool
    /// The columns that identify a row together with `rowID`, if it does not alone.
    var others: [String] = []
    /// What is grouped by besides columns.
    var expressions: [String] = []
    var isWithoutRowID = false

    /// What identifies a row, of a source of that name.
    func identity(_ alias: String) -> [String]? {
      rowID.map { ([$0] + others).map { "\(alias).\($0)" } }
    }
  }

  /// One of so many tables is WITHOUT ROWID.
  static let keyed = RandomSource.number("DIDCHANGE_KEYED") ?? 5

  /// Of ten columns, so many have an index.
  static let indexed = RandomSource.number("DIDCHANGE_INDEXED") ?? 7

  private(set) var statements: [String] = []
  private(set) var tables: [Table] = []
  private(set) var views: [Table] = []
  /// Views that UNION ALL or UNION makes.
  private(set) var unions: [Table] = []
  private let isUTF16: Bool

  var sources: [Table] { tables + views }

  init(using random: inout RandomSource) {
    isUTF16 = random.once(in: 6)
    if isUTF16 {
      statements.append("PRAGMA encoding = '\(random.pick(["UTF-16le", "UTF-16be"]))'")
    }
    for number in 0..<random.number(2...4) { addTable(number, using: &random) }
    for number in 0..<random.number(0...2) { addView(number, using: &random) }
    if random.once(in: 3) { addUnion(using: &random) }
    addList(using: &random)
  }

  /// What stands behind IN by its name.
  private mutating func addList(using random: inout RandomSource) {
    let table = random.pick(sources)
    let indexed = table.columns.filter(\.isIndexed)
    let column = random.pick(indexed.isEmpty ? table.columns : indexed).name
    let condition =
      random.once(in: 2) ? " WHERE \(random.pick(table.columns).name) IS NOT NULL" : ""
    statements.append("CREATE VIEW list AS SELECT \(column) FROM \(table.name)\(condition)")
  }

  private mutating func addUnion(using random: inout RandomSource) {
    let arms = (0..<random.pick([2, 2, 3])).map { _ in random.pick(tables) }
    let count = random.number(1...2)
    let word = random.pick(["UNION ALL", "UNION ALL", "UNION"])
    let selects = arms.enumerated().map { number, table in
      let exact = table.columns.filter(\.isExact)
      let list = (0..<count).map { _ in
        "x.\(random.pick(exact.isEmpty ? table.columns : exact).name)"
      }
      return "SELECT \(list.joined(separator: ", ")), 'k\(number)' FROM \(table.name) AS x"
        + (random.once(in: 3) ? " WHERE x.\(random.pick(table.columns).name) IS NOT NULL" : "")
    }
    let columns = (["a", "b"].prefix(count) + ["kind"]).map {
      Column(name: $0, declaration: "", isExact: true)
    }
    let names = columns.map(\.name).joined(separator: ", ")
    statements.append(
      "CREATE VIEW both(\(names)) AS \(selects.joined(separator: " \(word) "))")
    unions.append(Table(name: "both", columns: columns, rowID: nil, isView: true))
  }

  /// The same names in every table, so that scopes matter.
  private static let names = ["a", "b", "c", "text", "at"]

  private mutating func addTable(_ number: Int, using random: inout RandomSource) {
    let name = "t\(number)"
    let kind =
      random.once(in: Self.keyed)
      ? random.pick(["without", "without", "pair"])
      : random.pick(["id", "id", "id", "id", "id", "rowid", "text", "text", "null", "null"])
    var columns: [Column] = []
    if kind == "id" {
      columns.append(Column(name: "id", declaration: "INTEGER PRIMARY KEY", isExact: true))
    }
    if kind == "without" || kind == "pair" {
      let type = random.pick(["TEXT", "TEXT COLLATE NOCASE", "INTEGER", "REAL", "", "NUMERIC"])
      columns.append(
        Column(
          name: "id", declaration: type, isExact: !type.isEmpty && !type.contains("COLLATE"),
          isIndexed: false))
    }
    if kind == "text" {
      columns.append(
        Column(name: "id", declaration: "TEXT PRIMARY KEY NOT NULL", isExact: true))
    }
    if kind == "null" {
      // SQLite lets NULL into a primary key, any number of times.
      let type = random.pick(["TEXT", "TEXT", "TEXT", "INT", "TEXT COLLATE NOCASE"])
      columns.append(
        Column(
          name: "id", declaration: type + " PRIMARY KEY", isExact: !type.contains("COLLATE"),
          isIndexed: true))
    }
    for name in Self.names.prefix(random.number(2...Self.names.count)) {
      let type = random.pick(["INTEGER", "INTEGER", "TEXT", "TEXT", "REAL", "", "NUMERIC"])
      let isCollated = type == "TEXT" && random.once(in: 4)
      let collation = isCollated ? random.pick([" COLLATE NOCASE", " COLLATE RTRIM"]) : ""
      let constraint = random.once(in: 4) ? " NOT NULL" : ""
      var column = Column(
        name: name, declaration: type + collation + constraint,
        isExact: collation.isEmpty && !type.isEmpty)
      column.isIndexed = random.number(0...9) < Self.indexed
      columns.append(column)
    }
    var list = columns.map { "\($0.name) \($0.declaration)" }
    let others = kind == "pair" ? [columns[1].name] : []
    if kind == "without" || kind == "pair" {
      var key = (["id"] + others).map { $0 + random.pick(["", "", " DESC"]) }
      if random.once(in: 2) { key.reverse() }
      if random.once(in: 2) { list.reverse() }
      list.append("PRIMARY KEY (\(key.joined(separator: ", ")))")
    }
    statements.append(
      "CREATE TABLE \(name) (\(list.joined(separator: ", ")))"
        + (kind == "without" || kind == "pair" ? " WITHOUT ROWID" : ""))
    for column in columns where column.isIndexed {
      // SQLite finds no (a, b) IN (SELECT …) in an index that has a column twice.
      let others = columns.filter { $0.name != column.name }
      let more = random.once(in: 4) && !others.isEmpty ? ", \(random.pick(others).name)" : ""
      statements.append("CREATE INDEX \(name)_\(column.name) ON \(name) (\(column.name)\(more))")
    }
    let expression = random.pick(Self.expressions)
      .replacing("%", with: random.pick(columns).name)
    statements.append("CREATE INDEX \(name)_e ON \(name) (\(expression))")
    tables.append(
      Table(
        name: name, columns: columns, rowID: ["rowid", "null"].contains(kind) ? "rowid" : "id",
        isView: false, others: others, expressions: [expression],
        isWithoutRowID: kind == "without" || kind == "pair"))
  }

  private mutating func addView(_ number: Int, using random: inout RandomSource) {
    let name = "v\(number)"
    let (sql, view) = derived(named: name, using: &random)
    statements.append("CREATE VIEW \(name) AS \(sql)")
    views.append(view)
  }

  // MARK: - Writes

  /// The statements of the first transaction.
  func rows(using random: inout RandomSource) -> [String] {
    tables.flatMap { table in
      (0..<8).map { _ in insertion(into: table, using: &random) }
    }
  }

  /// The statements of a transaction.
  func transaction(using random: inout RandomSource) -> [String] {
    let count = random.once(in: 10) ? random.number(4...20) : random.pick([1, 1, 1, 2, 3])
    return (0..<count).map { _ in statement(using: &random) }
  }

  private func statement(using random: inout RandomSource) -> String {
    if random.once(in: 30) { return definition(using: &random) }
    let table = random.pick(tables)
    let id = random.number(1...9)
    let key = table.rowID ?? "rowid"
    switch random.number(0...9) {
    case 0...4: return insertion(into: table, using: &random)
    case 5, 6, 7:
      let column = random.pick(table.columns)
      let isNumber = column.name == key && (!table.isWithoutRowID || random.once(in: 2))
      let value = isNumber ? "\(random.number(1...9))" : value(using: &random)
      let comparison = random.pick(["=", "=", "=", ">", "<"])
      return """
        UPDATE OR IGNORE \(table.name) SET \(column.name) = \(value) WHERE \(key) \(comparison) \(id)
        """
    case 8: return "DELETE FROM \(table.name) WHERE \(key) = \(id)"
    default:
      if random.once(in: 10) { return "DELETE FROM \(table.name)" }
      let value = value(using: &random)
      return "DELETE FROM \(table.name) WHERE \(random.pick(table.columns).name) = \(value)"
    }
  }

  private func insertion(into table: Table, using random: inout RandomSource) -> String {
    let key = table.rowID ?? "rowid"
    let names = (key == "rowid" ? ["rowid"] : []) + table.columns.map(\.name)
    let values = names.map { name in
      // The keys of tables WITHOUT ROWID are of any type.
      let isNumber = name == key && (!table.isWithoutRowID || random.number(0...3) > 0)
      return isNumber ? "\(random.number(1...9))" : value(using: &random)
    }
    return """
      INSERT OR \(random.pick(["REPLACE", "IGNORE"])) INTO \(table.name) \
      (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))
      """
  }

  /// Few values, so that much is equal, and those that look equal and are not. Sums of them do not depend on the order.
  private func value(using random: inout RandomSource) -> String {
    if isUTF16, random.once(in: 4) { return random.pick(Self.wideTexts) }
    return random.pick(Self.values)
  }

  private static let values =
    [
      "NULL", "1", "1", "2", "2", "2", "3", "3", "4", "5", "6", "1.0", "2.5", "'2'", "'a'", "'A'",
      "'a '", "'b'", "x'61'",
    ] + (Aggregate.addsWithCompensation ? ["9.99", "0.1"] : [])

  /// Texts that UTF-16 orders otherwise than UTF-8, and those that are others when they are read.
  private static let wideTexts = [
    "char(0x1F600)", "char(0x1F600)", "char(0xFFFD)", "char(0xE9)", "char(0xD7FF)",
    "'a' || char(0)",
    "CAST(x'00D80041' AS TEXT)", "CAST(x'D8000041' AS TEXT)", "CAST(x'00D841DC' AS TEXT)",
    "CAST(x'D800DC41' AS TEXT)", "CAST(x'00D8' AS TEXT)", "CAST(x'FFFE' AS TEXT)",
    "CAST(x'FEFF' AS TEXT)", "'a' || CAST(x'DC00DC41' AS TEXT)",
  ]
}
