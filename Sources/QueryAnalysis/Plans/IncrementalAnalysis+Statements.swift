import Algorithms
import GRDB

// The statements of a plan.
extension IncrementalAnalysis {
  static let resultName = "\"didchange result\""
  static let ownerName = "\"didchange owner\""

  /// A SELECT of the query's rows: of all, unless `select` or a condition says of which.
  ///
  /// Each expression ends with its line or in parentheses, so that a comment at its end hides
  /// nothing of what follows.
  func body(
    _ columns: [String], of select: ResolvedSelect? = nil, condition: String? = nil
  ) -> String {
    // Where some are asked for, SQLite is to begin with these.
    let asWritten = select == nil && condition == nil
    let select = select ?? self.select
    let conditions = [select.syntax.predicate?.parenthesized, condition].compactMap(\.self)
    if isOverParts {
      return DeclaredParts.select(
        columns, from: shown.over(select.restricted(to: condition)).from(asWritten: asWritten),
        conditions: [shown.syntax.predicate?.parenthesized].compactMap(\.self), groupBy: [],
        having: nil, windows: shown.syntax.windows)
    }
    return DeclaredParts.select(
      columns, from: select.from(asWritten: asWritten), conditions: conditions,
      groupBy: select.syntax.groupBy,
      having: select.syntax.having, windows: select.syntax.windows)
  }

  /// The query, with hidden columns behind its own.
  func statement(
    of select: ResolvedSelect? = nil, condition: String? = nil, order: [String] = [],
    limit: LimitSyntax? = nil
  ) -> String {
    let outer = candidate.resultExpressions
    let condition = condition.map { candidate.extreme?.condition(ofGroup: $0) ?? $0 }
    let isNarrowed = select != nil
    let written = { isNarrowed ? subqueries.narrowed(expression: $0) : $0 }
    let hidden = list.hidden.enumerated().map { index, expression in
      written(expression).parenthesized + (outer.isEmpty ? "" : " AS \"didchange column \(index)\"")
    }
    var sql =
      select == nil ? candidate.whole?.sql(with: hidden) ?? "" : ""
    if sql.isEmpty {
      sql = body(
        shown.columns.map { written($0.text) } + hidden, of: select, condition: condition)
    }
    if !outer.isEmpty {
      let columns = outer.map(\.parenthesized).joined(separator: ", ")
      sql = "SELECT *, \(columns) FROM (\n\(sql)\n) AS \(Self.resultName)"
    }
    if !order.isEmpty { sql += "\nORDER BY " + order.joined(separator: ", ") }
    if let limit { sql += "\n" + limit.sql }
    return sql
  }

  /// The query's records of some rows.
  func keyed(by identity: [String]) -> KeyedStatement {
    let narrowed = narrowed
    return Self.keyed(identity) { statement(of: narrowed, condition: $0) }
  }

  func window(_ order: [String]) -> WindowStatement? {
    candidate.syntax.limit.map { limit in
      let shown = statement(order: order, limit: limit)
      let predicate = select.syntax.predicate
      let isShort =
        everyRowMayBeRecord && kept.isEmpty && db.isReadInOrder(shown)
        && (predicate == nil || db.everyEntryIsRow(of: shown, where: predicate))
      return WindowStatement(
        short: isShort ? shown : nil, sql: statement(order: order), bounds: limit.bounds,
        order: order)
    }
  }

  /// The query for one page at a time; nil where that would cost the whole result each time.
  func pages(_ order: [String]) -> PagedStatement? {
    let page = statement(order: order) + "\nLIMIT ? OFFSET ?"
    guard candidate.syntax.limit == nil, windows.functions.isEmpty, kept.isEmpty,
      db.isReadInOrder(page)
    else { return nil }
    return PagedStatement(page: page, count: "SELECT count(*) FROM (\n\(statement())\n)")
  }

  /// Where the n-th record is known by a b-tree alone: nothing but the order decides.
  func outline(of plan: IncrementalPlan) -> OutlinedOrder? {
    guard case .row = plan.owner, everyRowIsRecord, plan.leads.count == 1,
      plan.contributions.isEmpty,
      let page = plan.pages?.page
    else { return nil }
    return OutlinedOrder.found(in: page, db)
  }

  private var everyRowIsRecord: Bool { everyRowMayBeRecord && select.syntax.predicate == nil }

  /// Whether WHERE alone may keep a row from being a record.
  private var everyRowMayBeRecord: Bool {
    select.sources.count == 1 && !select.sources[0].isRewritten && select.syntax.groupBy.isEmpty
      && windows.functions.isEmpty && candidate.extreme == nil
  }

  static func keyed(_ identity: [String], _ write: (String) -> String) -> KeyedStatement {
    guard identity.count < 2 else {
      let condition = identity.map { "\($0) = ?" }.joined(separator: " AND ")
      return KeyedStatement(beforeKeys: write(condition), afterKeys: "", takesOne: true)
    }
    let expression = identity.first ?? "NULL"
    // No SQL text has a NUL.
    let parts = write("\(expression) IN \0").split(
      separator: "\0", maxSplits: 1, omittingEmptySubsequences: false)
    return KeyedStatement(beforeKeys: String(parts[0]), afterKeys: String(parts[1]))
  }

  // MARK: - SQLite's plan

  /// What SQLite calls the rows between the passes of window functions. A subquery in FROM has a name.
  private static let passes = "(subquery-"

  /// Asks SQLite whether rows are found by searches alone: no table is read as a whole.
  ///
  /// https://www.sqlite.org/eqp.html
  func checkSearches(_ sql: String) throws {
    let own =
      [Self.resultName, Self.ownerName].map { $0.dropFirst().dropLast() }
      + subqueries.passNames.map { $0[...] }
    let lists = subqueries.functionNames.union([SchemaFacts.listName])
    for step in try steps(of: sql) {
      let detail = step.detail
      // The rows of the records themselves, whose section is still to be named, and what is asked for.
      let isOwn =
        own.contains(where: step.goesAlong(subquery:))
        || detail.hasPrefix("CO-ROUTINE \(Self.passes)")
        || detail.hasPrefix("SCAN \(Self.passes)")
      // What a function makes of one value.
      let isFunction = lists.contains(where: step.goesAlong(function:))
      guard
        step.findsByKey || isOwn || isFunction || isRowOfSearch(detail) || looksThroughFew(detail)
      else {
        let shown = detail.replacing(" LEFT-JOIN", with: "")
        let name = Self.nameOfSource(in: detail)
        let help =
          name.flatMap { subqueries.advice[$0] }
          ?? missingIndex(forStep: detail).map { "what may help: \($0.sql)" }
        throw NotIncremental(
          reason: "SQLite would not search by key: \(shown)" + (help.map { "; \($0)" } ?? ""),
          unsearched: name)
      }
    }
  }

  /// Whether FTS5 looks up one rowid: `SCAN post_fts VIRTUAL TABLE INDEX 0:=M2`.
  ///
  /// The letters behind the colon are FTS5's own for the conditions that it was given: M is a search in
  /// a column, = the rowid. With both it skips to the rowid in the list of each word.
  private func isRowOfSearch(_ detail: String) -> Bool {
    subqueries.searchNames.contains { name in
      // For min() and max() it is called a search.
      ["SCAN", "SEARCH"].contains { verb in
        let prefix = "\(verb) \(name) VIRTUAL TABLE INDEX "
        return detail.hasPrefix(prefix)
          && detail.dropFirst(prefix.count).prefix { $0 != " " }.contains("=")
      }
    }
  }

  private func steps(of sql: String) throws -> [PlanStep] {
    do {
      return try db.planSteps(of: sql)
    } catch let error as DatabaseError
      where [.SQLITE_ERROR, .SQLITE_TOOBIG].contains(error.resultCode)
    {
      throw NotIncremental(reason: "SQLite does not take it with its rowids")
    }
  }

  // MARK: - For a person

  func reason(_ plan: IncrementalPlan) -> String {
    var others = plan.leads.filter(\.isFollowed).map(\.table)
    var text: String
    switch plan.owner {
    case .row, .keyedRow:
      others.removeFirst()
      let identity = if case .row = plan.owner { "rowid" } else { "primary key" }
      text =
        !select.isGrouped
        ? "each changed row of \(plan.table) is read again by its \(identity)"
        : "each changed row of \(plan.table) is counted again with what belongs to it"
      if !others.isEmpty {
        text += ", and changed rows of \(others.listed) lead to rows of \(plan.table)"
      }
    case .group, .rowOfArm, .values:
      let arePartitions = ownersArePartitions || !windows.functions.isEmpty && !select.isGrouped
      let owners = arePartitions ? "partitions" : "groups"
      let read = candidate.extreme?.shown ?? "which"
      text = "changed rows of \(others.listed) lead to their \(owners), \(read) are read again"
    }
    if !lookedThrough.isEmpty {
      text += "; all rows of \(lookedThrough.sorted().listed) are looked at, which are few"
    }
    text += plan.leads.notes
    switch plan.window?.short {
    case nil where plan.window == nil: break
    case nil: text += "; LIMIT is cut from the whole order, which is kept"
    case .some:
      text = """
        the rows up to LIMIT are read again through the index of their order; if they are more than \
        \(WindowStatement.shortLimit), LIMIT is cut from the whole order, and \(text)
        """
    }
    return text
  }
}

extension [IncrementalPlan.Lead] {
  /// What is not as good as it may be, behind whatever else is said. A table may lead in several ways.
  var notes: String { compactMap(\.note).uniqued().map { "; " + $0 }.joined() }
}

extension IncrementalPlan.Lead {
  /// What is not as good as it may be about a table's changes, for a person.
  fileprivate var note: String? {
    refusal.map { "when \(table) changes, the query runs again: \($0)" } ?? remedy
  }
}

extension LimitSyntax {
  var sql: String {
    "LIMIT \(limit.parenthesized)" + (offset.map { " OFFSET \($0.parenthesized)" } ?? "")
  }

  /// A statement that returns both.
  var bounds: String {
    """
    SELECT CAST(\(limit.parenthesized) AS NUMERIC), CAST(\((offset ?? "0").parenthesized) AS NUMERIC)
    """
  }
}

extension [String] {
  /// Each once, with commas and "and".
  var listed: String {
    var names = Array(uniqued())
    guard let last = names.popLast() else { return "" }
    return names.isEmpty ? last : names.joined(separator: ", ") + " and " + last
  }
}
