package import GRDB
import OrderedResults

extension Query {
  /// Asks SQLite what `definition` means under the schema that `db` sees now.
  ///
  /// O(s) in the size s of the schema; reads no rows of the query.
  ///
  /// - Throws: ``QueryProblems`` with every problem that could be found, not only the first.
  package static func analyzed(_ definition: QueryDefinition, in db: Database) throws -> Query {
    try analyzed(definition, AnalysisBudget(definition), in: db)
  }

  /// The same as a part of an analysis that has begun.
  static func analyzed(
    _ definition: QueryDefinition, _ budget: AnalysisBudget, in db: Database
  ) throws -> Query {
    var analyzer = QueryAnalyzer(definition: definition, db: db, budget: budget)
    return try analyzer.query()
  }

  /// What a definition means in each of its orders.
  ///
  /// - Returns: one query for each of ``QueryDefinition/orders``, in their order; else one.
  /// - Throws: ``QueryProblems`` with the problems of all.
  package static func analyzedInEachOrder(
    _ definition: QueryDefinition, in db: Database
  ) throws -> [Query] {
    if definition.orders.isEmpty { return [try analyzed(definition, in: db)] }
    var problems: [QueryProblem] = []
    let queries = try definition.orders.compactMap { order -> Query? in
      do {
        return try analyzed(definition.ordered(by: order), in: db)
      } catch let refused as QueryProblems {
        // What is wrong with the rest is wrong with it in each order.
        for problem in refused.problems.map({ $0.of(order) }) where !problems.contains(problem) {
          problems.append(problem)
        }
        return nil
      }
    }
    if problems.isEmpty { return queries }
    throw QueryProblems(query: definition.name, problems: problems)
  }
}

/// Makes the ``Query`` of one definition, and gathers what is wrong with it.
struct QueryAnalyzer {
  let definition: QueryDefinition
  let db: Database
  let budget: AnalysisBudget
  var problems: [QueryProblem] = []

  var facts: SchemaFacts { SchemaFacts(db: db) }

  mutating func query() throws -> Query {
    let shape: StatementShape?
    switch definition.form {
    case .declared(let declaration): shape = try collecting { try $0.shape(of: declaration) }
    case .sql(let sql): shape = try collecting { try $0.shape(ofSQL: sql) }
    }
    let final = try shape.flatMap { shape in
      try collecting { try $0.prepare(shape.sql, part: shape.part) }
    }
    let alongside = try definition.alongside.compactMap { item in
      try collecting { try $0.alongsideStatement(item) }
    }
    let texts = [final].compactMap(\.self) + alongside
    if final != nil { checkParameters(of: texts) }
    var layout = shape?.layout
    if let final, let shape { layout?.types = columnTypes(of: final, shape.layout) }
    guard problems.isEmpty, var shape, let final, let layout else {
      throw QueryProblems(query: definition.name, problems: problems)
    }
    try planValues(of: &shape)
    try planTallies(of: &shape)
    let own = try facts.dependencies(of: [final.statement])
    return Query(
      definition: definition, sql: shape.sql, layout: layout,
      dependencies: try facts.dependencies(of: texts.map(\.statement)),
      tables: own.map(\.table), storage: own.flatMap(\.storage),
      alongside: try statements(alongside), tracking: shape.tracking, plan: shape.plan,
      totals: shape.totals, lookup: shape.lookup, limitedRows: shape.limitedRows,
      innerGroups: shape.innerGroups, letsClientsCallFunctions: try letClientsCallFunctions(texts))
  }

  /// How a parameter comes to a function is not followed: it may go through a CTE or a subquery.
  private func letClientsCallFunctions(_ texts: [StatementText]) throws -> Bool {
    if definition.isExplored { return true }
    guard definition.parameters.contains(where: { !$0.isClaimed }) else { return false }
    let functions = try FunctionList(db)
    return texts.contains { functions.callsFunctionOfRows(in: $0.statement.sql) }
  }

  /// Finds out how those values are kept for which SQLite would look at all rows. What serves others follows nothing by
  /// itself: it may be brought up to date before that.
  private func planValues(of shape: inout StatementShape) throws {
    guard let values = shape.plan?.values, !definition.servesOthers else { return }
    for (index, value) in values.enumerated() where !value.isExistence && value.list == nil {
      let isSearched = try !db.planSteps(of: value.sql).contains { $0.detail.hasPrefix("SCAN ") }
      let sql = String(value.subquery.dropFirst().dropLast())
      guard !isSearched, let statement = try? db.makeStatement(sql: sql) else { continue }
      let plans = try AggregateAnalysis(definition, AnalysisBudget(definition), in: db)
        .plans(for: [StatementText(statement: statement)])
      shape.plan?.values[index].plan = try? plans[0].get()
    }
  }

  /// Finds out whether what is made of many rows may follow what these come to.
  private func planTallies(of shape: inout StatementShape) throws {
    guard !definition.servesOthers || definition.followsRows,
      shape.groups != nil || shape.owned != nil
    else { return }
    let analysis = try AggregateAnalysis(definition, AnalysisBudget(definition), in: db)
    // What belongs to the row itself is not held once for each row that refers to it.
    if let owned = shape.owned { shape.plan?.owned = try? analysis.tallies(of: owned).get() }
    if shape.plan?.owned == nil, let groups = shape.groups {
      shape.plan?.tally = try? analysis.tally(of: groups).get()
    }
    guard shape.plan?.tally != nil || shape.plan?.owned != nil else { return }
    let isBesideValues = shape.plan?.tally != nil && shape.plan?.values.isEmpty == false
    shape.tracking = Tracking(
      mode: .incremental,
      reason: shape.tracking.reason
        + "; where that takes long, what many rows come to is followed"
        + (isBesideValues ? ", and groups are shown by that beside another value" : ""))
  }

  private func statements(_ texts: [StatementText]) throws -> [AlongsideStatement] {
    if texts.isEmpty { return [] }
    let plans = try AggregateAnalysis(
      definition, AnalysisBudget(definition, statements: texts.count), in: db
    ).plans(for: texts)
    return try zip(zip(definition.alongside, texts), plans).map { item, plan in
      let refusal: String? = if case .failure(let refusal) = plan { refusal.reason } else { nil }
      return AlongsideStatement(
        name: item.0.name, sql: item.0.sql,
        tables: try facts.dependencies(of: [item.1.statement]).flatMap { [$0.table] + $0.storage },
        plan: try? plan.get(), refusal: refusal)
    }
  }

  /// Runs one step; a problem that it throws is kept, and the analysis goes on without its result.
  mutating func collecting<T>(_ step: (inout Self) throws -> T) throws -> T? {
    do {
      return try step(&self)
    } catch let problem as QueryProblem {
      problems.append(problem)
    } catch let several as QueryProblems {
      problems += several.problems
    }
    return nil
  }

  /// Prepares `sql`; where a word is unknown, names of the schema's kind are the suggestions.
  func prepare(_ sql: String, part: QueryPart, columns: [String] = []) throws -> StatementText {
    try StatementText(sql, part: part, in: db) { message in
      if message.hasPrefix("no such table") { return (try? facts.tablesAndViews()) ?? [] }
      guard message.hasPrefix("no such column") else { return [] }
      return columns.isEmpty ? columnsOfTables(namedIn: sql) : columns
    }
  }

  /// The columns of all tables and views that a statement names, as far as they are known.
  private func columnsOfTables(namedIn sql: String) -> [String] {
    ((try? facts.tablesAndViews(namedIn: [sql])) ?? []).flatMap(facts.columns)
  }

  private func alongsideStatement(_ item: QueryDefinition.Alongside) throws -> StatementText {
    let part = QueryPart.alongside(item.name)
    let text = try prepare(item.sql, part: part)
    guard text.columnNames.count == 1 else {
      throw QueryProblem(
        part: part, message: "it returns \(text.columnNames.count) columns",
        mend: "select exactly one value; use several alongside statements for several values")
    }
    return text
  }

  /// Every parameter in the SQL is declared, and every declared one is used.
  private mutating func checkParameters(of texts: [StatementText]) {
    let used = texts.flatMap(\.parameterNames)
    let declared = definition.parameters.map(\.name)
    if used.contains(nil) {
      problems.append(
        QueryProblem(
          .unnamedParameter, part: mainPart, message: "a parameter has no name",
          mend: "write :name instead of ? and declare the name"))
    }
    for name in Set(used.compactMap(\.self)).sorted() where !declared.contains(name) {
      let parts = texts.filter { $0.parameterNames.contains(name) }.compactMap(\.part)
      for part in parts.allSatisfy(\.isAlongside) ? parts : [mainPart] {
        problems.append(
          QueryProblem(
            .undeclaredParameter, part: part, message: "the parameter :\(name) is not declared",
            mend: "declare it, or mend its name", unknownWord: name, knownWords: declared))
      }
    }
    for name in declared where !used.contains(name) {
      problems.append(
        QueryProblem(
          part: .parameter(name), message: "the parameter \(name) is not used",
          mend: "use :\(name) in the query, or take the declaration out"))
    }
  }

  /// The expressions over a record that the definition asks for besides its columns.
  var sectionExpressions: [(part: QueryPart, expression: String)] {
    let parts: [(QueryPart, String?)] = [
      (.section, definition.section), (.sectionIndexTitle, definition.sectionIndexTitle),
    ]
    return parts.compactMap { part, expression in expression.map { (part, $0) } }
  }

  /// - Throws: `QueryProblem` where an expression over a record aggregates several.
  func check(_ expression: String, isOfRecord part: QueryPart) throws {
    guard callsAggregate(expression) else { return }
    throw QueryProblem(
      part: part, message: "it aggregates records, and is to be of one",
      mend: "write an expression over the columns of a record, or a subquery")
  }

  func callsAggregate(_ expression: String) -> Bool {
    (try? FunctionList(db).callsAggregate(expression)) == true
  }

  /// Where a problem of the whole statement is reported.
  var mainPart: QueryPart {
    switch definition.form {
    case .declared: .table
    case .sql: .sql
    }
  }

  func checkNamesAreUnique(_ names: [String], part: QueryPart) throws {
    var seen: Set<String> = []
    for name in names where !seen.insert(name).inserted {
      throw QueryProblem(
        part: part, message: "two result columns are named \(name)",
        mend: "give one of them another name with AS")
    }
  }
}

/// A statement that is ready to run, and what its columns are for.
struct StatementShape {
  var sql: String
  var part: QueryPart
  var layout: RecordLayout
  var plan: IncrementalPlan?
  var tracking: Tracking
  var groups: GroupSyntax?
  var owned: OwnedSyntax?
  var totals: [AggregatePlan] = []
  var lookup: RowLookup?
  var limitedRows: LimitedRows?
  var innerGroups: InnerGroups?
}
