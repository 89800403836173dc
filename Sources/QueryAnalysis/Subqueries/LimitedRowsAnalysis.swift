import GRDB
import OrderedResults

/// Finds out whether what a query shows is made of the rows that a SELECT in its FROM, or in its WHERE, has up to
/// LIMIT.
struct LimitedRowsAnalysis {
  let definition: QueryDefinition
  let budget: AnalysisBudget
  let db: Database

  /// What runs in the place of a query, and what is read of it where the rows are known.
  struct Found {
    /// The query, whose order and that of the rows leave nothing open.
    let sql: String
    let rows: LimitedRows
    let reason: String
  }

  /// The name of the rowids that are given, in SQLite's plan.
  private static let listName = "didchange list"

  /// - Parameters:
  ///   - sql: the query, without a semicolon.
  ///   - ending: the columns with which its order is to end.
  /// - Returns: nil where neither has a SELECT with LIMIT.
  /// - Throws: ``NotIncremental`` where what it has cannot be followed; `DatabaseError` where the schema cannot be
  ///   read.
  func limitedRows(in sql: String, ending: [Int]) throws -> Found? {
    guard let syntax = try? SelectParser.parse(sql),
      let source = try syntax.sources.lazy.compactMap({ try select(of: $0, syntax) }).first
        ?? subquery(of: syntax)
    else { return nil }
    let lack = "in \(source.name), there is LIMIT"
    guard try !syntax.order.isEmpty || isOneRecord(sql) else {
      throw NotIncremental(reason: "\(lack), and no ORDER BY outside of it")
    }
    do {
      try SchemaFacts(db: db).checkStability(of: sql)
    } catch let refusal as NotIncremental {
      throw NotIncremental(reason: "\(lack), and \(refusal.reason)")
    }
    try checkNames(in: source.sql, of: source, syntax, lack)
    let (definition, query, plan) = try analyzed(source.sql, lack)
    try checkNames(in: query.sql, of: source, syntax, lack)
    let names = try source.names ?? self.names(of: source.sql, lack)
    guard var text = LimitedText(sql, source, syntax) else {
      throw NotIncremental(reason: "\(lack), and it is there more than once")
    }
    text.completeOrder(ending)
    let written = { (rows: String) in
      text.replacing(with: try select(names, of: rows, lack))
    }
    let list = """
      (SELECT value FROM json_each(:\(LimitedRows.parameter)) AS \(Self.listName.quotedIdentifier))
      """
    let whole = try written(query.sql)
    // With a LIMIT it has the order that the rows have there, for what depends on it.
    let order = plan.window?.order.joined(separator: ", ") ?? ""
    let records = plan.values.restored(in: plan.records.sql(forList: list))
    if CommonValue.isNamed(in: records) {
      throw NotIncremental(reason: "\(lack), and its records look at a list of their own")
    }
    let given = try written("SELECT * FROM (\n\(records)\n)\nORDER BY \(order)\nLIMIT -1")
    try checkSteps(of: given, as: whole, besides: source.name, lack)
    let beside = try dependencies(of: written(Self.noRows(of: names)))
    return Found(
      sql: whole,
      rows: LimitedRows(
        rows: definition, sql: given,
        tablesBeside: Set(beside.flatMap { [$0.table] + $0.storage })),
      reason: """
        where running the query takes long, the rows up to LIMIT in \(source.name) are followed, and what is \
        made of them is read again: \(query.tracking.reason)
        """)
  }

  /// Whether it aggregates all rows to one record.
  private func isOneRecord(_ sql: String) throws -> Bool {
    try !AggregateSyntax.columns(of: sql, FunctionList(db)).isEmpty
  }

  // MARK: - The SELECT

  /// A SELECT with LIMIT.
  struct Source {
    enum Place {
      /// In parentheses: as a subquery of FROM or WHERE, or as a table of WITH.
      case written
      /// A view of that name.
      case view(String)
    }

    let sql: String
    let place: Place
    /// By which the query knows it, or a word for a person.
    let name: String
    /// The names of its columns, where they are not those of the SELECT.
    let names: [String]?
  }

  private func select(of source: SourceSyntax, _ syntax: SelectSyntax) throws -> Source? {
    let found: Source
    let name = source.shownName
    let others = syntax.commonTables
    switch source.origin {
    case .function: return nil
    case .select(let sql): found = Source(sql: sql, place: .written, name: name, names: nil)
    case .table(let schema, let table):
      if schema?.isSameIdentifier(as: "main") == false { return nil }
      if schema == nil,
        let index = others.firstIndex(where: { $0.name.isSameIdentifier(as: table) })
      {
        found = Source(sql: others[index].select, place: .written, name: name, names: nil)
      } else if let view = try SchemaFacts(db: db).view(table) {
        found = Source(sql: view.select, place: .view(table), name: name, names: view.columns)
      } else {
        return nil
      }
    }
    return try checked(found)
  }

  /// What WHERE compares something with, or looks it up in, where that looks at nothing around it.
  private func subquery(of syntax: SelectSyntax) throws -> Source? {
    let subqueries = syntax.predicate.map(Subquery.all) ?? []
    return try subqueries.lazy.filter { $0.role.isOfValues && db.standingAlone($0.body) != nil }
      .compactMap {
        try checked(
          Source(sql: $0.body.sourceText, place: .written, name: "a subquery", names: nil))
      }.first
  }

  /// - Returns: nil where it has no LIMIT.
  /// - Throws: ``NotIncremental`` where that is too high.
  private func checked(_ found: Source) throws(NotIncremental) -> Source? {
    guard let inner = try? SelectParser.parse(found.sql), inner.limit != nil else { return nil }
    if let count = inner.limit.flatMap({ Int($0.limit) }), count > LimitedRows.most {
      throw NotIncremental(
        reason: "in \(found.name), there is LIMIT, and it is above \(LimitedRows.most)")
    }
    return found
  }

  /// In the place of the SELECT, a name may stand for a table of WITH.
  private func checkNames(
    in sql: String, of source: Source, _ syntax: SelectSyntax, _ lack: String
  ) throws(NotIncremental) {
    let words = SQLTokens.tokens(of: sql).compactMap(\.name)
    for table in syntax.commonTables where table.select != source.sql {
      if words.contains(where: table.name.isSameIdentifier) {
        throw NotIncremental(
          reason: "\(lack), and it names \(table.name), which is a table of WITH")
      }
    }
  }

  /// The names of a subquery's columns, as SQLite gives them.
  private func names(of sql: String, _ lack: String) throws -> [String] {
    guard let names = (try? db.makeStatement(sql: "SELECT * FROM (\n\(sql)\n)"))?.columnNames,
      Set(names.map { $0.lowercased() }).count == names.count
    else { throw NotIncremental(reason: "\(lack), and the names of its columns are not certain") }
    return names
  }

  /// The first columns of a subquery under names.
  private func select(_ names: [String], of rows: String, _ lack: String) throws -> String {
    let columns = zip(try self.names(of: rows, lack), names).map { column, name in
      "\(column.quotedIdentifier) AS \(name.quotedIdentifier)"
    }
    return "SELECT \(columns.joined(separator: ", ")) FROM (\n\(rows)\n)"
  }

  /// The SELECT as a query by itself, whose records are rows of one table.
  private func analyzed(
    _ sql: String, _ lack: String
  ) throws -> (QueryDefinition, Query, IncrementalPlan) {
    let used = Set(SQLFragment.parameterNames(of: sql))
    var rows = QueryDefinition(
      name: "rows up to LIMIT", form: .sql(sql),
      parameters: definition.parameters.filter { used.contains($0.name) })
    rows.servesOthers = true
    let query: Query
    do {
      query = try Query.analyzed(rows, budget, in: db)
    } catch let problems as QueryProblems {
      let problem = problems.problems.first.map { ", and \($0.message)" } ?? ""
      throw NotIncremental(reason: lack + problem)
    }
    guard let plan = query.plan else {
      throw NotIncremental(reason: "\(lack), and \(query.tracking.reason)")
    }
    guard case .row = plan.owner, plan.hasOneRecordAnOwner, plan.keptRows.isEmpty,
      !plan.records.takesOne, !plan.isPrefix, plan.running.isEmpty
    else {
      throw NotIncremental(
        reason: "\(lack), and its records are not each of one row of a table with rowids")
    }
    return (rows, query, plan)
  }

  /// A SELECT of the same columns that reads no table.
  private static func noRows(of columns: [String]) -> String {
    let nulls = columns.map { "NULL AS \($0.quotedIdentifier)" }
    return "SELECT \(nulls.joined(separator: ", "))"
  }

  private func dependencies(of sql: String) throws -> [TableDependency] {
    guard let statement = try? db.makeStatement(sql: sql) else {
      throw NotIncremental(reason: "what it reads beside the rows up to LIMIT is not certain")
    }
    return try SchemaFacts(db: db).dependencies(of: [statement])
  }

  // MARK: - SQLite's plan

  /// Asks SQLite whether what is made of rows that are given is found by searches alone, and in the order in
  /// which the query finds it.
  private func checkSteps(
    of given: String, as whole: String, besides source: String, _ lack: String
  ) throws {
    let (steps, expected): ([PlanStep], [PlanStep])
    do {
      (steps, expected) = (try db.planSteps(of: given), try db.planSteps(of: whole))
    } catch is DatabaseError {
      throw NotIncremental(reason: "\(lack), and SQLite does not take it for rows that are given")
    }
    let other = steps.first { step in
      // Within another subquery, something else may have the same name.
      let isOfSource =
        step.isOutermost
        && (step.goesAlong(subquery: source) || step.detail == "MATERIALIZE \(source)")
      return !step.findsByKey && !isOfSource && !step.isOfSubquery
        && !step.goesAlong(function: Self.listName)
    }
    if let other {
      throw NotIncremental(
        reason: "\(lack), and SQLite would not search by key for what is joined: \(other.detail)")
    }
    guard steps.outermost == expected.outermost else {
      throw NotIncremental(reason: "\(lack), and SQLite would join rows that are given otherwise")
    }
  }
}

extension [PlanStep] {
  /// What the statement itself does; subqueries without names have numbers.
  fileprivate var outermost: [String] {
    filter(\.isOutermost).map { $0.detail.replacing(#/(subquery-|SUBQUERY )\d+/#, with: "#") }
  }
}

extension PlanStep {
  /// Whether it goes along what a subquery makes that has no name.
  fileprivate var isOfSubquery: Bool {
    ["CO-ROUTINE ", "MATERIALIZE ", "SCAN "].contains { detail.hasPrefix($0 + "(subquery-") }
  }
}

extension KeyedStatement {
  /// The statement for the keys that a SELECT in parentheses lists.
  fileprivate func sql(forList list: String) -> String { beforeKeys + list + afterKeys }
}
