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
