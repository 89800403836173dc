package import GRDB

extension Database {
  /// How SQLite would go about a statement, which does not run: https://www.sqlite.org/eqp.html
  ///
  /// - Parameter sql: one statement; the plan is that of any values of its parameters.
  /// - Returns: the steps, with the columns `id`, `parent` and `detail`.
  /// - Throws: `DatabaseError` where the statement does not prepare.
  package func queryPlan(of sql: String) throws -> [Row] {
    let statement = try makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
    statement.setUncheckedArguments(StatementArguments())
    return try Row.fetchAll(statement)
  }

  /// The tables in whose order SQLite reads the rows of each group of a SELECT, the outermost first, and
  /// by which indexes; nil: it sorts them, or that is not certain.
  ///
  /// What is searched for in the first one does not count.
  func orderOfGroupedRows(in sql: String) -> [String]? {
    guard let steps = try? queryPlan(of: sql) else { return nil }
    let others = [
      "GROUP BY", "AUTOMATIC", "ANY(", "VIRTUAL", "MULTI-INDEX", "MATERIALIZE", "CO-ROUTINE",
    ]
    var tables: [String] = []
    for step in steps where step["parent"] == 0 {
      let detail = (step["detail"] as String).replacing(" COVERING", with: "")
      if others.contains(where: { detail.contains($0) }) { return nil }
      guard detail.hasPrefix("SCAN ") || detail.hasPrefix("SEARCH ") else { continue }
      let text = detail.drop { $0 != " " }.dropFirst()
      tables.append(String(tables.isEmpty ? text.prefix { $0 != "(" } : text))
    }
    guard let first = tables.first?.replacing(" USING INTEGER PRIMARY KEY", with: "") else {
      return nil
    }
    tables[0] = first.trimmingSpaces
    let index = tables[0].split(separator: " USING INDEX ", maxSplits: 1).dropFirst().first
    return index.map { isFalling(index: String($0)) } == true ? nil : tables
  }

  /// How SQLite goes about each subquery that is a value, wherever it stands.
  ///
  /// - Parameters:
  ///   - sql: the statement.
  ///   - lookups: by what it calls a table, how it says that it looks up rows of a list, in the order of all.
  /// - Returns: the plans, sorted; nil: it does not take the statement.
  func plansOfValues(in sql: String, lookingUp lookups: [String: String] = [:]) -> [String]? {
    guard let steps = try? queryPlan(of: sql) else { return nil }
    let children = Dictionary(grouping: steps) { $0["parent"] as Int }
    let scans = Dictionary(lookups.map { ($1, "SCAN \($0)") }) { first, _ in first }
    func isList(_ step: Row) -> Bool {
      let inner = children[step["id"]] ?? []
      return inner.contains { PlanStep($0).goesAlong(function: SchemaFacts.listName) }
    }
    func plan(below id: Int) -> String {
      let lines = (children[id] ?? []).filter { !isList($0) }.map { step -> String in
        // The number of a subquery is that of this statement.
        let detail = (step["detail"] as String).replacing(#/( SUBQUERY |subquery-)\d+/#, with: "#")
        return "\(scans[detail] ?? detail)(\(plan(below: step["id"])))"
      }
      return lines.joined(separator: "\n")
    }
    let values = steps.filter { ($0["detail"] as String).contains("SCALAR SUBQUERY") }
    return values.map { plan(below: $0["id"]) }.sorted()
  }

  /// The columns of an index; none where one falls, is an expression, or has another collation than BINARY.
  func keyColumns(ofIndex name: String) -> [String] {
    let sql = "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno"
    let rows = (try? Row.fetchAll(self, sql: sql, arguments: [name])) ?? []
    let columns = rows.compactMap { row -> String? in
      row["desc"] == 0 && row["coll"] == "BINARY" ? row["name"] : nil
    }
    return columns.count == rows.count ? columns : []
  }

  /// Whether an index falls in one of its columns: then it may be read from its end.
  private func isFalling(index: String) -> Bool {
    let sql = "SELECT max(\"desc\") FROM pragma_index_xinfo(?)"
    return (try? Bool.fetchOne(self, sql: sql, arguments: [index])) != false
  }

  /// Whether SQLite reads the rows of a SELECT in their order, without having to sort or to keep
  /// them.
  func isReadInOrder(_ sql: String) -> Bool {
    guard let steps = try? queryPlan(of: sql) else { return false }
    return !steps.contains { step in
      let detail = step["detail"] as String
      return detail.hasPrefix("USE TEMP B-TREE") || detail.hasPrefix("MATERIALIZE")
        || detail.contains("AUTOMATIC")
    }
  }
}
