import GRDB

/// A step of how SQLite goes about a statement: https://www.sqlite.org/eqp.html
struct PlanStep {
  let detail: String
  /// Whether it is one of the statement itself, and not of a subquery.
  let isOutermost: Bool

  /// - Parameter row: of ``GRDB/Database/queryPlan(of:)``.
  init(_ row: Row) {
    detail = row["detail"]
    isOutermost = row["parent"] == 0
  }

  /// The steps that read no table by themselves, or look for one key in an index.
  private static let searchless = [
    "USE TEMP B-TREE", "SCALAR SUBQUERY", "CORRELATED SCALAR SUBQUERY", "REUSE SUBQUERY",
    "LIST SUBQUERY", "CORRELATED LIST SUBQUERY", "REUSE LIST SUBQUERY", "COMPOUND QUERY",
    "LEFT-MOST SUBQUERY", "SCAN CONSTANT ROW", "UNION", "INTERSECT", "EXCEPT",
    // Of the values of an IN, which it tells apart sooner, from SQLite 3.47 on.
    "CREATE BLOOM FILTER",
    "USING ROWID SEARCH ON TABLE ", "USING INDEX ",
    // Of an OR each side is a step of its own: https://www.sqlite.org/optoverview.html#or_optimizations
    "MULTI-INDEX OR", "INDEX ",
  ]

  /// Whether it finds the rows of a table by what they equal, if it reads one at all.
  var findsByKey: Bool { isSearch || Self.searchless.contains(where: detail.hasPrefix) }

  private var isSearch: Bool {
    detail.hasPrefix("SEARCH ") && detail.contains("=?") && !detail.contains("ANY(")
      && !detail.contains("AUTOMATIC")
  }

  /// Whether it goes along what a subquery of FROM makes.
  func goesAlong(subquery name: some StringProtocol) -> Bool {
    detail == "CO-ROUTINE \(name)" || detail == "SCAN \(name)"
  }

  /// Whether it goes along what a table-valued function makes of one value.
  func goesAlong(function name: some StringProtocol) -> Bool {
    detail.hasPrefix("SCAN \(name) VIRTUAL TABLE INDEX ")
  }
}

extension Database {
  /// Whether each entry of the one table or index that SQLite goes along for a SELECT is a row of it: what WHERE
  /// asks for is found by equality.
  func everyEntryIsRow(of sql: String, where predicate: String?) -> Bool {
    guard let steps = try? planSteps(of: sql), steps.count == 1 else { return false }
    let detail = steps[0].detail
    guard let predicate else { return detail.hasPrefix("SCAN ") }
    return detail.hasPrefix("SEARCH ") && !detail.contains { "<>".contains($0) }
      && detail.ranges(of: "=?").count == SQLTokens.tokens(of: predicate)[...].countOfConditions
  }

  /// How SQLite would go about a statement, of whatever values of its parameters.
  ///
  /// - Throws: `DatabaseError` where the statement does not prepare.
  func planSteps(of sql: String) throws -> [PlanStep] {
    try queryPlan(of: sql).map(PlanStep.init)
  }
}

extension ArraySlice<SQLToken> {
  /// How many conditions AND joins, in parentheses or not; nil: that is not certain.
  fileprivate var countOfConditions: Int? {
    let conditions = withoutParentheses.atDepthZero[...].conjuncts
    if conditions.count == 1 { return 1 }
    if conditions.isEmpty { return nil }
    var count = 0
    for condition in conditions {
      guard let own = condition.countOfConditions else { return nil }
      count += own
    }
    return count
  }
}
