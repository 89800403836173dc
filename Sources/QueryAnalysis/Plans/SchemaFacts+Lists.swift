import GRDB
import OrderedResults

// Looking up rows of a table whose rowids, or primary keys, are given as JSON.
extension SchemaFacts {
  /// That a row is among those of a list: JSON of their rowids, or of their keys, which are arrays where they
  /// have several columns.
  ///
  /// - Parameters:
  ///   - table: whose row it is.
  ///   - list: the JSON, as an expression.
  /// - Returns: a condition; nil: SQLite would not search by all of the key.
  func listCondition(_ table: BaseTable, in list: String) -> String? {
    guard let key = table.key else {
      return table.rowID.map { Self.condition([$0], [Self.value], list) }
    }
    let columns = listedColumns(of: table.name, key)
    let condition = { (identity: [String], list: String) in
      Self.condition(columns.map { identity[$0.position] }, columns.map(\.value), list)
    }
    let names = key.columns.map(\.quotedIdentifier)
    let sql = """
      SELECT 1 FROM main.\(table.name.quotedIdentifier) WHERE \(condition(names, "'[]'"))
      """
    guard let step = try? db.planSteps(of: sql).first, step.detail.hasPrefix("SEARCH "),
      step.detail.ranges(of: "=?").count == names.count
    else { return nil }
    return condition(table.keyColumns, list)
  }

  /// What SQLite calls the rows of a list in its plan.
  static let listName = "didchange members"

  private static let value = "value"

  private static func condition(_ row: [String], _ values: [String], _ list: String) -> String {
    let row = row.count == 1 ? row[0] : "(\(row.joined(separator: ", ")))"
    return """
      \(row) IN (SELECT \(values.joined(separator: ", ")) FROM json_each(\(list)) \
      AS \(listName.quotedIdentifier))
      """
  }

  /// The columns of a key, in the order in which SQLite searches by all of them, and how each is read of JSON.
  ///
  /// It takes the values of a list for what the first column would make of them, and searches by no column of another
  /// type. Behind a column without a type, or one of texts whose values are cast, it searches by all.
  private func listedColumns(
    of table: String, _ key: TableKey
  ) -> [(position: Int, value: String)] {
    if key.columns.count == 1 { return [(0, Self.value)] }
    let affinities = key.columns.map { comparison(of: $0.lowercased(), in: table)?.affinity }
    let isMixed = Set(affinities.map { $0 == .text }).count > 1
    let first =
      affinities.firstIndex(of: .blob) ?? (isMixed ? affinities.firstIndex(of: .text) : nil) ?? 0
    let others = key.columns.indices.filter { $0 != first }
    return ([first] + others).map { position in
      let value = "json_extract(value, '$[\(position)]')"
      let isText = position == first && isMixed && affinities[position] == .text
      return (position, isText ? "CAST(\(value) AS TEXT)" : value)
    }
  }

  /// How SQLite's plan says that it looks up rows of a list in the order in which it would go along all of the table.
  ///
  /// - Parameters:
  ///   - table: whose rows they are.
  ///   - name: what the plan calls it.
  /// - Returns: the step; nil: it takes them in another order.
  func orderedLookup(_ table: BaseTable, named name: String) -> String? {
    guard let key = table.key else {
      return "SEARCH \(name) USING INTEGER PRIMARY KEY (rowid=?)"
    }
    // A list is passed from its end where the first column falls.
    guard hasOneDirection(keyOf: table.name) else { return nil }
    let columns = key.columns.map { "\($0)=?" }.joined(separator: " AND ")
    return "SEARCH \(name) USING PRIMARY KEY (\(columns))"
  }

  private func hasOneDirection(keyOf table: String) -> Bool {
    let sql = """
      SELECT count(DISTINCT x."desc") FROM pragma_index_list(?) AS l, pragma_index_xinfo(l.name) AS x
      WHERE l.origin = 'pk' AND x.key
      """
    return (try? Int.fetchOne(db, sql: sql, arguments: [table])) == 1
  }
}
