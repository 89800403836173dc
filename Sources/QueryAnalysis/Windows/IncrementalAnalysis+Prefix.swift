import GRDB
import OrderedResults

// Windows of all rows, of which LIMIT or a condition on their places shows the first: what comes behind these
// decides about none of them.
extension IncrementalAnalysis {
  /// The first rows in the order of an index, which are looked for and read again.
  ///
  /// The windows see these rows only. So a function may look at no row behind its own, and the order of its
  /// window is that of the rows.
  ///
  /// - Throws: ``NotIncremental`` where a function may look at others, or no index has the order.
  mutating func prefixShape() throws -> IncrementalShape {
    let table = try orderedTable
    for bound in placeBounds {
      var attempt = self
      do {
        return try attempt.prefixShape(of: table, upTo: bound)
      } catch let lack as NotIncremental where lack.unsearched != nil {
        throw lack
      } catch is NotIncremental {
        continue
      }
    }
    var attempt = self
    do {
      return try attempt.prefixShape(of: table, reversingKey: false)
    } catch is NotIncremental {
      // An index has a rank's order with rowids that go up, or else with some that go down.
      return try prefixShape(of: table, reversingKey: true)
    }
  }

  private var refusal: NotIncremental {
    NotIncremental(reason: "its rows are not the first of an index")
  }

  private mutating func prefixShape(
    of table: BaseTable, reversingKey isReversed: Bool
  ) throws -> IncrementalShape {
    guard let limit = candidate.syntax.limit, !shown.filtersParts else { throw refusal }
    let columns = positions(ofRow: 0)
    let asked = try recordOrder(reversingKey: isReversed)
    let order = try rowOrder(asked)
    for function in windows.functions { try checkLooksBack(function, along: order) }
    let rows = firstRows(table.identity, order, limit.last)
    guard db.isReadInOrder(rows), everyEntryIsRow(rows) else { throw refusal }
    return try shape(
      reading: FirstRows(sql: rows, end: "LIMIT", bounds: limit.bounds), of: table, columns, asked)
  }

  /// The rows up to a place: as many as it says, and those that are equal to the last of them.
  private mutating func prefixShape(
    of table: BaseTable, upTo bound: PlaceBound
  ) throws -> IncrementalShape {
    guard let place = shown.expressionOverRows(bound.place), let function = windows.call(place),
      function.isRank, function.name.lowercased() != "dense_rank"
    else { throw refusal }
    let order = function.window.order
    for function in windows.functions { try checkLooksBack(function, along: order) }
    var rows = firstRows(table.identity, order, bound.limit)
    guard db.isReadInOrder(rows) else { throw lackOfOrder(order, of: table) }
    guard everyEntryIsRow(rows) else {
      let reason = "an index of the order of its places is not searched by all of its WHERE"
      throw NotIncremental(reason: reason, unsearched: table.name)
    }
    if !isTotal(function.window) {
      let scansOfFirst = try scans(in: rows).count
      let equal = order.map { term in
        let last = firstRows([term.expression], order, "1 OFFSET max(\(bound.limit), 1) - 1")
        return "\(term.value) IS (\n\(last)\n)"
      }
      let others = self.rows(showing: table.identity, where: equal.joined(separator: " AND "))
      rows = "SELECT * FROM (\n\(rows)\n)\nUNION ALL\n\(others)"
      guard db.isReadInOrder(rows),
        try scans(in: rows).count == (1 + order.count) * scansOfFirst
      else { throw refusal }
    }
    return try shape(
      reading: FirstRows(sql: rows, end: "a place", bounds: "SELECT \(bound.limit), 0"), of: table,
      positions(ofRow: 0), recordOrder())
  }

  /// That SQLite would sort all rows to know the first, and what may help.
  private func lackOfOrder(_ order: [OrderTerm], of table: BaseTable) -> NotIncremental {
    let lack = "no index has the order of its places"
    if order.count == 1, order[0].collation == nil, order[0].nullsLast == nil,
      select.syntax.predicate == nil, let column = select.origin(of: order[0].expression),
      !facts.isIndexed(column.name, of: table.name)
    {
      let index = MissingIndex(
        table: table.name, column: facts.declaredName(of: column.name, in: table.name))
      return NotIncremental(
        reason: "\(lack); what may help: \(index.sql)", unsearched: table.name)
    }
    let condition = select.syntax.predicate.map { ", of the rows WHERE \($0)" } ?? ""
    return NotIncremental(
      reason: "\(lack), \(order.map(\.text).joined(separator: ", "))\(condition)",
      unsearched: table.name)
  }

  /// The first rows of an order.
  private struct FirstRows {
    /// A SELECT of what tells them apart.
    let sql: String
    /// What they end with, for a person.
    let end: String
    /// A statement that returns how many they are, apart from those that are equal to the last, and 0.
    let bounds: String
  }

  private mutating func shape(
    reading rows: FirstRows, of table: BaseTable, _ columns: [Int], _ asked: AskedOrder
  ) throws -> IncrementalShape {
    let records = keyed(by: table.identity)
    // The rows fulfil the condition; SQLite might look through all others that do.
    var narrowed = narrowed
    narrowed.syntax.predicate = nil
    let rowsAlone = isOverParts ? keyed(by: table.identity, rowsOf: narrowed) : records
    try checkSearches(rowsAlone.sql(forKeys: 2))
    let sql = statement(
      of: narrowed, condition: "\(table.identity[0]) IN (\n\(rows.sql)\n)", order: asked.sql,
      limit: candidate.syntax.limit)
    guard try scansNothing(sql, but: rows.sql) else { throw refusal }

    let leads = (select.tables + subqueries.joins.flatMap(\.tables)).enumerated().map {
      IncrementalPlan.Lead(
        table: $1.name, storage: $1.storage, isOwner: $0 == 0, searches: [], position: nil,
        refusal: $0 == 0 ? nil : $1.lack)
    }
    var plan = IncrementalPlan(
      owner: table.key.map { .keyedRow(columns: columns, $0) } ?? .row(column: columns[0]),
      isGrouped: false, order: asked.record, records: records, leads: leads, contributions: [],
      window: WindowStatement(short: sql, sql: sql, bounds: rows.bounds), pages: nil)
    plan.isPrefix = true
    return IncrementalShape(
      sql: sql, list: list, key: key, addedKeyNames: addedKeyNames, keyIsUnique: keyIsUnique,
      plan: plan,
      reason: "the rows up to \(rows.end) are read again through the index of their order")
  }

  // MARK: - Order

  /// The order of the rows of FROM that makes the order of the records: a rank goes up as its window does.
  func rowOrder(_ asked: AskedOrder) throws -> [OrderTerm] {
    let terms = try zip(asked.terms, asked.sql).flatMap { term, sql -> [OrderTerm] in
      guard term.column < list.count,
        let expression = expression(ofColumn: term.column).flatMap(expressionOfWindows)
      else { throw NotIncremental(reason: "it orders by more than its row") }
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

  /// The SELECT in whose words windows are written: the one of the rows, or the one over groups.
  var seenByWindows: ResolvedSelect { isOverGroups ? shown : select }

  /// What a column of the query is in these words; nil: it cannot be said in them.
  private func expressionOfWindows(_ expression: String) -> String? {
    isOverGroups ? expression : shown.expressionOverRows(expression)
  }

  /// An expression in these words, to be compared with others. Groups are all of FROM: `total` is
  /// `standing.total`.
  func termOfWindows(_ expression: String) -> GroupTerm {
    let column = isOverGroups ? SQLTokens.tokens(of: expression).columnName?.name : nil
    return GroupTerm(column?.quotedIdentifier ?? expression, in: seenByWindows)
  }

  private func checkLooksBack(_ function: WindowFunction, along order: [OrderTerm]) throws {
    let window = function.window
    let isTotal = self.isTotal(window)
    guard window.partition.isEmpty, !window.order.isEmpty, function.looksBack,
      // It is a constant in OVER, and the number of a column behind a SELECT.
      !window.order.contains(where: \.isNumber),
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
    termOfWindows(first.expression) == termOfWindows(second.expression)
      && first.collation?.uppercased() == second.collation?.uppercased()
  }

  // MARK: - Rows

  /// The table that the rows are of, which tells them apart by one value.
  private var orderedTable: BaseTable {
    get throws {
      guard select.sources.count == 1, !select.sources[0].isRewritten,
        let table = select.tables.first, table.storage == nil, table.identity.count == 1
      else { throw refusal }
      return table
    }
  }

  /// The conditions that may keep what comes behind a place from being shown.
  private var placeBounds: [PlaceBound] {
    guard isOverParts, let predicate = shown.syntax.predicate else { return [] }
    return SQLTokens.tokens(of: predicate)[...].conjuncts.compactMap(PlaceBound.init)
  }

  /// So many rows of an order, which a LIMIT tells.
  private func firstRows(_ columns: [String], _ order: [OrderTerm], _ limit: String) -> String {
    """
    \(rows(showing: columns))
    ORDER BY \(order.map(\.sql).joined(separator: ", "))
    LIMIT \(limit)
    """
  }

  /// The rows of FROM that fulfil WHERE, and another condition.
  private func rows(showing columns: [String], where condition: String? = nil) -> String {
    DeclaredParts.select(
      columns, from: select.from(),
      conditions: [select.syntax.predicate?.parenthesized, condition].compactMap(\.self),
      groupBy: [],
      having: nil)
  }

  /// Whether each entry of the index that is gone along is a row: all conditions are what it is searched by.
  private func everyEntryIsRow(_ rows: String) -> Bool {
    db.everyEntryIsRow(of: rows, where: select.syntax.predicate)
  }

  /// The rows of partitions, without the SELECTs over them.
  private func keyed(by identity: [String], rowsOf select: ResolvedSelect) -> KeyedStatement {
    Self.keyed(identity) { condition in
      DeclaredParts.select(
        select.columns.map(\.text), from: select.from(), conditions: [condition], groupBy: [],
        having: nil, windows: select.syntax.windows)
    }
  }

  /// Whether a statement goes along no other tables and indexes than one that it contains.
  private func scansNothing(_ sql: String, but part: String) throws -> Bool {
    var names = shown.namesOfParts.map { "SCAN \($0)" }
    var expected = try scans(in: part)
    for scan in try scans(in: sql) {
      if let index = expected.firstIndex(of: scan) {
        expected.remove(at: index)
      } else if let index = names.firstIndex(of: scan) {
        names.remove(at: index)
      } else {
        return false
      }
    }
    return expected.isEmpty && names.isEmpty
  }

  /// The steps of a statement that go along a table or an index, from one of its ends.
  private func scans(in sql: String) throws -> [String] {
    let own = ["SCAN (", "SCAN \(Self.resultName.dropFirst().dropLast())"]
    return try db.queryPlan(of: sql).map { $0["detail"] as String }
      .filter { detail in detail.hasPrefix("SCAN ") && !own.contains(where: detail.hasPrefix) }
  }
}

extension LimitSyntax {
  /// How many rows it shows and skips; -1 for all.
  fileprivate var last: String {
    let shown = "(\(limit.parenthesized) + 0)"
    let skipped = offset.map { " + max(\($0.parenthesized) + 0, 0)" } ?? ""
    return "CASE WHEN \(shown) < 0 THEN -1 ELSE \(shown)\(skipped) END"
  }
}
