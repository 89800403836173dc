import GRDB
import OrderedResults

// Windows of all rows, of which LIMIT shows the first: what comes behind these decides about none of them.
extension IncrementalAnalysis {
  /// The first rows in the order of an index, which are looked for and read again.
  ///
  /// The windows see these rows only. So a function may look at no row behind its own, and the order of its
  /// window is that of the records.
  ///
  /// - Throws: ``NotIncremental`` where a function may look at others, or no index has the order.
  mutating func prefixShape() throws -> IncrementalShape {
    var attempt = self
    do {
      return try attempt.prefixShape(reversingKey: false)
    } catch is NotIncremental {
      // An index has a rank's order with rowids that go up, or else with some that go down.
      return try prefixShape(reversingKey: true)
    }
  }

  private mutating func prefixShape(reversingKey isReversed: Bool) throws -> IncrementalShape {
    let refusal = NotIncremental(reason: "its rows are not the first of an index")
    guard let limit = candidate.syntax.limit, !isOverParts, select.sources.count == 1,
      !select.sources[0].isRewritten, let table = select.tables.first, table.storage == nil,
      table.identity.count == 1
    else { throw refusal }
    let columns = positions(ofRow: 0)
    let asked = try recordOrder(reversingKey: isReversed)
    let order = try rowOrder(asked)
    for function in windows.functions { try checkLooksBack(function, along: order) }
    let rows = firstRows(of: table, order, limit)
    guard db.isReadInOrder(rows), everyEntryIsRow(rows) else { throw refusal }

    let records = keyed(by: table.identity)
    try checkSearches(records.sql(forKeys: 2))
    let sql = statement(
      of: narrowed, condition: "\(table.identity[0]) IN (\n\(rows)\n)", order: asked.sql,
      limit: limit)
    guard try scans(in: sql) == scans(in: rows) else { throw refusal }

    let leads = (select.tables + subqueries.joins.flatMap(\.tables)).enumerated().map {
      IncrementalPlan.Lead(
        table: $1.name, storage: $1.storage, isOwner: $0 == 0, searches: [], position: nil,
        refusal: $0 == 0 ? nil : $1.lack)
    }
    var plan = IncrementalPlan(
      owner: table.key.map { .keyedRow(columns: columns, $0) } ?? .row(column: columns[0]),
      isGrouped: false, order: asked.record, records: records, leads: leads, contributions: [],
      window: WindowStatement(short: sql, sql: sql, bounds: limit.bounds), pages: nil)
    plan.isPrefix = true
    return IncrementalShape(
      sql: sql, list: list, key: key, addedKeyNames: addedKeyNames, keyIsUnique: keyIsUnique,
      plan: plan, reason: "the rows up to LIMIT are read again through the index of their order")
  }

  // MARK: - Order

  /// The order of the rows of FROM that makes the order of the records: a rank goes up as its window does.
  func rowOrder(_ asked: AskedOrder) throws -> [OrderTerm] {
    let terms = try zip(asked.terms, asked.sql).flatMap { term, sql -> [OrderTerm] in
      guard term.column < list.count, let expression = expression(ofColumn: term.column) else {
        throw NotIncremental(reason: "it orders by more than its row")
      }
      if let function = windows.call(expression), function.isRank, !term.isDescending {
        return function.window.order
      }
      // What stands behind the number of the column: COLLATE, and the direction.
      return [OrderTerm(expression.parenthesized + sql.drop(while: \.isNumber))]
    }
    // An expression decides once, under each collation.
    return terms.reduce(into: []) { order, term in
      if !order.contains(where: { haveSameValues($0, term) }) { order.append(term) }
    }
  }

  private func checkLooksBack(_ function: WindowFunction, along order: [OrderTerm]) throws {
    let window = function.window
    let isTotal = self.isTotal(window)
    guard window.partition.isEmpty, !window.order.isEmpty, function.looksBack,
      // Among equal rows, some may be behind those of LIMIT.
      function.isRank || isTotal, isTotal || window.order.count <= order.count,
      zip(window.order, order).allSatisfy(areSame)
    else {
      throw NotIncremental(reason: "\(function.name)() may look at rows that LIMIT does not show")
    }
  }

  func areSame(_ first: OrderTerm, _ second: OrderTerm) -> Bool {
    haveSameValues(first, second) && first.isDescending == second.isDescending
      && first.putsNullsLast == second.putsNullsLast
  }

  private func haveSameValues(_ first: OrderTerm, _ second: OrderTerm) -> Bool {
    GroupTerm(first.expression, in: select) == GroupTerm(second.expression, in: select)
      && first.collation?.uppercased() == second.collation?.uppercased()
  }

  // MARK: - Rows

  /// What tells the rows apart that LIMIT shows and OFFSET skips.
  private func firstRows(
    of table: BaseTable, _ order: [OrderTerm], _ limit: LimitSyntax
  ) -> String {
    let rows = DeclaredParts.select(
      table.identity, from: select.from(),
      conditions: [select.syntax.predicate?.parenthesized].compactMap(\.self), groupBy: [],
      having: nil)
    let shown = "(\(limit.limit.parenthesized) + 0)"
    let skipped = limit.offset.map { " + max(\($0.parenthesized) + 0, 0)" } ?? ""
    return """
      \(rows)
      ORDER BY \(order.map(\.sql).joined(separator: ", "))
      LIMIT CASE WHEN \(shown) < 0 THEN -1 ELSE \(shown)\(skipped) END
      """
  }

  /// Whether each entry of the index that is gone along is a row: all conditions are what it is searched by.
  private func everyEntryIsRow(_ rows: String) -> Bool {
    guard let predicate = select.syntax.predicate else { return true }
    let conditions = SQLTokens.tokens(of: predicate)[...].conjuncts.count
    guard conditions > 0, let steps = try? db.queryPlan(of: rows), steps.count == 1,
      let step = steps[0]["detail"] as String?, step.hasPrefix("SEARCH ")
    else { return false }
    return step.ranges(of: "=?").count == conditions && !step.contains { "<>".contains($0) }
  }

  /// The steps of a statement that go along a table or an index, from one of its ends.
  private func scans(in sql: String) throws -> [String] {
    let own = ["SCAN (", "SCAN \(Self.resultName.dropFirst().dropLast())"]
    return try db.queryPlan(of: sql).map { $0["detail"] as String }
      .filter { detail in detail.hasPrefix("SCAN ") && !own.contains(where: detail.hasPrefix) }
      .sorted()
  }
}
