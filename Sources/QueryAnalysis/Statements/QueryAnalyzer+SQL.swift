import Algorithms
import GRDB
import GRDBSQLite
import OrderedResults

// Definitions of the form "any single SELECT".
extension QueryAnalyzer {
  mutating func shape(ofSQL sql: String) throws -> StatementShape {
    if definition.isExplored { try checkSize(of: sql) }
    let text = try prepare(sql, part: .sql)
    let names = text.columnNames
    if !definition.repeatsColumnNames { try checkNamesAreUnique(names, part: .sql) }
    var list = SelectList(visible: names)
    let section = definition.section.map { list.place(of: $0) }
    let title = definition.sectionIndexTitle.map { list.place(of: $0) }
    let key = try sqlKey(names: names, origins: text.origins)
    let wrapped = try wrap(text, adding: list)
    var layout = RecordLayout(
      columns: names, columnCount: list.count, key: key, keyIsUnique: false,
      keyNames: key.map { $0.map { names[$0] } } ?? [], section: section,
      sectionIndexTitle: title)
    do {
      let sql = text.sqlWithoutSemicolon
      let shape = try shape(with: CommonValues(in: [sql], of: sql, db)) { values in
        let sql = values?.replacing(in: sql) ?? sql
        if let shape = try setOperationShape(sql, list, key ?? [], values)
          ?? unionShape(sql, list, key ?? [], values)
        {
          return shape
        }
        return try incrementalShape(
          IncrementalCandidate(
            syntax: try SelectParser.parse(sql), list: SelectList(visible: names),
            resultExpressions: list.hidden, leadingSection: nil, sectionNeedsBytes: false,
            key: key ?? [], keyIsFree: definition.key == nil, orderIsFree: false, values: values),
          of: sql, names: names)
      }
      // The hidden columns that the plan needs stand before those of the section.
      let added = shape.list.count - names.count
      layout.section = section.map { $0 < names.count ? $0 : $0 + added }
      layout.sectionIndexTitle = title.map { $0 < names.count ? $0 : $0 + added }
      layout.take(shape, outer: list.hidden.count)
      return StatementShape(
        sql: shape.sql, part: .sql, layout: layout, plan: shape.plan,
        tracking: Tracking(mode: .incremental, reason: shape.reason), groups: shape.groups,
        owned: shape.owned)
    } catch let refusal as NotIncremental {
      var shape = StatementShape(
        sql: wrapped, part: .sql, layout: layout, plan: nil,
        tracking: Tracking(mode: .refetch, reason: refusal.reason))
      // Without a key, what is left open is between records that show the same.
      let ending = key ?? Array(names.indices)
      if try limit(&shape, text.sqlWithoutSemicolon, list, ending: ending)
        || group(&shape, text.sqlWithoutSemicolon, list, ending: ending)
      {
        return shape
      }
      guard list.hidden.isEmpty, section == nil, title == nil else { return shape }
      let analysis = RowLookupAnalysis(definition: definition, budget: budget, db: db)
      if let lookup = try analysis.lookup(in: text.sqlWithoutSemicolon, names: names) {
        (shape.lookup, shape.sql) = (lookup.lookup, lookup.sql ?? shape.sql)
        let note = lookup.sql == nil ? "" : RowLookupAnalysis.noteOfOrder
        shape.tracking = Tracking(mode: .incremental, reason: RowLookupAnalysis.reason + note)
        return shape
      }
      do {
        shape.totals = try totals(of: text)
        shape.tracking = Tracking(mode: .incremental, reason: Self.totalsReason)
      } catch let refusal as NotIncremental {
        shape.tracking = Tracking(mode: .refetch, reason: refusal.reason)
      } catch is NoTotals {}
      return shape
    }
  }

  /// How a query is followed where changes of the fewest tables run it again: with values for subqueries that look at
  /// nothing around them, or as it was written; with lists for them, too, where it is not followed otherwise.
  ///
  /// - Throws: ``NotIncremental``.
  func shape(
    with values: CommonValues?, _ shape: (CommonValues?) throws -> IncrementalShape
  ) throws -> IncrementalShape {
    var attempts: [CommonValues?] = [values?.withoutLists, nil].uniqued(on: { $0 == nil })
    if let values, values.hasLists { attempts.append(values) }
    var best: (shape: IncrementalShape, refusals: Int)?
    var first: NotIncremental?
    for values in attempts
    where first == nil && best == nil || budget.takesAnother(of: attempts.count) {
      if let best, !best.shape.looksThroughFew, values?.hasLists == true { break }
      do {
        let shape = try shape(values)
        let refusals = shape.plan.leads.count { !$0.isFollowed }
        if refusals == 0 { return shape }
        if refusals < best?.refusals ?? .max { best = (shape, refusals) }
      } catch let refusal as NotIncremental {
        // What they look at is not in the way.
        first =
          first ?? NotIncremental(reason: values?.restored(in: refusal.reason) ?? refusal.reason)
      }
    }
    guard let best else { throw first ?? NotIncremental(reason: "it is no plain SELECT") }
    return best.shape
  }

  /// Refuses what SQLite would have to prepare for long: nobody has seen that it does not.
  private func checkSize(of sql: String) throws {
    do {
      _ = try StatementSize.measure(sql, views: try facts.views())
    } catch is StatementSize.TooLarge {
      throw QueryProblem(
        part: .sql,
        message: "it is too large to be explored: with its CTEs, views and columns written out "
          + "wherever they are named, it has more than \(StatementSize.most) words",
        mend: "name them less often, or declare the query")
    }
  }

  /// Has a query that runs again run for the rows up to LIMIT in its FROM, where these can be known; else says why not.
  ///
  /// - Returns: whether there is such a LIMIT.
  func limit(
    _ shape: inout StatementShape, _ sql: String, _ list: SelectList = SelectList(visible: []),
    ending: [Int]
  ) throws -> Bool {
    let analysis = LimitedRowsAnalysis(definition: definition, budget: budget, db: db)
    do {
      guard let found = try analysis.limitedRows(in: sql, ending: ending) else { return false }
      guard haveColumns(of: shape, found.sql, found.rows.sql) else {
        throw NotIncremental(reason: "its columns would not keep their names")
      }
      shape.sql = list.added(to: found.sql)
      shape.limitedRows = LimitedRows(
        rows: found.rows.rows, sql: list.added(to: found.rows.sql),
        tablesBeside: found.rows.tablesBeside)
      shape.tracking = Tracking(mode: .incremental, reason: found.reason)
    } catch let refusal as NotIncremental {
      shape.tracking = Tracking(mode: .refetch, reason: refusal.reason)
    }
    return true
  }

  /// Has a query that runs again be made of the groups that a SELECT within it makes, where these can be known.
  ///
  /// - Returns: whether it is.
  private func group(
    _ shape: inout StatementShape, _ sql: String, _ list: SelectList, ending: [Int]
  ) throws -> Bool {
    let analysis = InnerGroupsAnalysis(definition: definition, budget: budget, db: db)
    do {
      guard let found = try analysis.groups(in: sql, list, ending: ending),
        let given = found.groups.statement(for: []), haveColumns(of: shape, found.sql, given.sql)
      else { return false }
      (shape.sql, shape.innerGroups) = (found.sql, found.groups)
      shape.tracking = Tracking(mode: .incremental, reason: found.reason)
      return true
    } catch let refusal as NotIncremental {
      shape.tracking = Tracking(
        mode: .refetch, reason: "\(shape.tracking.reason); as groups, \(refusal.reason)")
      return false
    }
  }

  /// Whether statements have the columns that a shape has, under the same names.
  private func haveColumns(of shape: StatementShape, _ statements: String...) -> Bool {
    let names = shape.layout.columns
    return statements.allSatisfy {
      (try? db.makeStatement(sql: $0))?.columnNames.starts(with: names) == true
    }
  }

  private static let totalsReason = """
    each changed row is added to what it aggregates, or taken from it, where running the query takes \
    long
    """

  /// A statement whose record is something else than aggregates of all rows.
  private struct NoTotals: Error {}

  /// How each column of a record that aggregates all rows is kept.
  ///
  /// - Throws: ``NotIncremental`` where it has to run again, `NoTotals` where it is another statement.
  private func totals(of text: StatementText) throws -> [AggregatePlan] {
    let functions = try FunctionList(db)
    let columns = AggregateSyntax.columns(of: text.sqlWithoutSemicolon, functions)
    if columns.isEmpty { throw NoTotals() }
    let statements = try columns.map { try prepare($0, part: .sql) }
    return try AggregateAnalysis(definition, budget, in: db).plans(for: statements)
      .map { try $0.get() }
  }

  /// - Throws: ``NotIncremental``, also where SQLite does not give the columns the same names when
  ///   their statement is written anew.
  func incrementalShape(
    _ candidate: IncrementalCandidate, names: [String]
  ) throws -> IncrementalShape {
    if let distributed = try DistributedSelect(candidate, FunctionList(db), facts) {
      guard candidate.whole == nil else {
        throw NotIncremental(
          reason: "they are joined with what UNION makes: join each of its SELECTs with them")
      }
      return try unionShape(distributed.compound, candidate, over: distributed)
    }
    var analysis = try IncrementalAnalysis(candidate, budget, in: db)
    return try checked(
      try analysis.shape(), names, outer: candidate.resultExpressions.count, candidate.values)
  }

  /// The same where it may show a few rows of each group, and where views, CTEs and subqueries that are joined may make
  /// groups, or lists in WHERE. As a whole it is run as `sql`.
  func incrementalShape(
    _ candidate: IncrementalCandidate, of sql: String, names: [String]
  ) throws -> IncrementalShape {
    if let shape = try extremeShape(candidate, of: sql, names: names) { return shape }
    do {
      let shape = try incrementalShape(candidate, names: names)
      return try joinedExtremeShape(candidate, shape, of: sql, names: names) ?? shape
    } catch let refusal as NotIncremental {
      guard
        let syntax = try GroupedSources(budget, names: names, in: db)
          .leavingOut(of: candidate.syntax)
      else { throw refusal }
      var candidate = candidate
      (candidate.syntax, candidate.whole) = (syntax, WholeStatement(sql))
      do {
        return try incrementalShape(candidate, names: names)
      } catch let error as NotIncremental {
        throw NotIncremental(
          reason: "\(refusal.reason), and where they are subqueries, \(error.reason)")
      }
    }
  }

  /// The shape of UNION ALL, UNION, or a FULL JOIN; nil: it is another statement.
  private func unionShape(
    _ sql: String, _ list: SelectList, _ key: [Int], _ values: CommonValues?
  ) throws -> IncrementalShape? {
    guard
      let compound = try SelectParser.parseCompound(sql)
        ?? FullJoin.compound(of: SelectParser.parse(sql), facts)
    else { return nil }
    guard list.hidden.isEmpty else {
      let word = compound.kind == .fullJoin ? compound.kind.rawValue : "UNION"
      throw NotIncremental(reason: "the sections of \(word) are no column of it")
    }
    let candidate = IncrementalCandidate(
      syntax: compound.arms[0], list: list, resultExpressions: [], leadingSection: nil,
      sectionNeedsBytes: false, key: key, keyIsFree: definition.key == nil, orderIsFree: false,
      values: values)
    return try unionShape(compound, candidate)
  }

  private func unionShape(
    _ compound: CompoundSelect, _ candidate: IncrementalCandidate,
    over distributed: DistributedSelect? = nil
  ) throws -> IncrementalShape {
    guard candidate.resultExpressions.isEmpty else {
      throw NotIncremental(reason: "the sections of UNION are no column of it")
    }
    var analysis = try unionAnalysis(compound, candidate, over: distributed)
    if let turned = compound.turned, !analysis.arms[0].isOneRecordAnOwner,
      var other = try? unionAnalysis(
        CompoundSelect(arms: turned, kind: compound.kind, texts: []), candidate),
      other.arms[0].isOneRecordAnOwner,
      let shape = try? checked(
        try other.shape(), candidate.list.visible, outer: 0, candidate.values)
    {
      return shape
    }
    return try checked(
      try analysis.shape(), candidate.list.visible, outer: 0, candidate.values)
  }

  /// The shape of EXCEPT or INTERSECT; nil: it is another statement, or compares what is no column.
  private func setOperationShape(
    _ sql: String, _ list: SelectList, _ key: [Int], _ values: CommonValues?
  ) throws -> IncrementalShape? {
    let resolver = SourceResolver(try RowLocality(db), AnalysisBudget(definition), db)
    guard list.hidden.isEmpty,
      let operation = SetOperation(sql, names: list.visible, resolver)
    else { return nil }
    let candidate = IncrementalCandidate(
      syntax: operation.syntax, list: list, resultExpressions: [], leadingSection: nil,
      sectionNeedsBytes: false, key: key, keyIsFree: definition.key == nil, orderIsFree: false,
      values: values, whole: WholeStatement(sql))
    return try incrementalShape(candidate, names: list.visible)
  }

  private func unionAnalysis(
    _ compound: CompoundSelect, _ candidate: IncrementalCandidate,
    over distributed: DistributedSelect? = nil
  ) throws -> UnionAnalysis {
    try UnionAnalysis(compound, candidate, over: distributed) {
      try IncrementalAnalysis($0, budget, in: db)
    }
  }

  private func checked(
    _ shape: IncrementalShape, _ names: [String], outer: Int, _ values: CommonValues?
  ) throws -> IncrementalShape {
    let shape = try values?.restored(shape) ?? shape
    guard let statement = try? db.makeStatement(sql: shape.sql),
      statement.columnNames.prefix(names.count).elementsEqual(names),
      statement.columnCount == shape.list.count + outer
    else { throw NotIncremental(reason: "its columns would not keep their names") }
    // What SQLite says that it reads counts, whatever was understood of the text.
    for table in try facts.dependencies(of: [statement]).map(\.table)
    where !shape.plan.leads.contains(where: { $0.table.isSameIdentifier(as: table) }) {
      throw NotIncremental(reason: "it reads \(table) in a way that is not followed")
    }
    return shape
  }

  /// The statement with hidden columns behind its own.
  ///
  /// A subquery that is all of FROM keeps its order where the outer query asks for none:
  /// https://www.sqlite.org/optoverview.html#omit_order_by_on_from_clause_subqueries
  private mutating func wrap(_ text: StatementText, adding list: SelectList) throws -> String {
    let inner = text.sqlWithoutSemicolon
    for (part, expression) in sectionExpressions
    where list.position(ofVisible: expression) == nil {
      _ = try collecting {
        try QueryProblem.check(fragment: expression, part: part)
        try $0.check(expression, isOfRecord: part)
        return try $0.prepare(
          "SELECT \(expression.parenthesized) FROM (\n\(inner)\n)", part: part,
          columns: text.columnNames)
      }
    }
    // The whole statement would tell them once more.
    if !problems.isEmpty { throw QueryProblems(query: definition.name, problems: []) }
    return list.added(to: inner)
  }

  /// The declared key, or else the primary keys that the columns' origins show whole.
  ///
  /// Where the result shows the primary keys of several tables, all of them together are the key:
  /// that is the finest identity that the columns can tell.
  private mutating func sqlKey(names: [String], origins: [ColumnOrigin?]) throws -> [Int]? {
    if let declared = definition.key {
      return try declared.enumerated().map { index, name in
        guard let position = names.firstIndex(of: name) else {
          throw unknownKeyColumn(name, at: index, known: names)
        }
        return position
      }
    }
    let key = try keyFromOrigins(origins)
    return key.isEmpty ? nil : key
  }

  func unknownKeyColumn(_ name: String, at index: Int, known: [String]) -> QueryProblem {
    QueryProblem(
      part: .key(index), message: "\(name) is not a column of the result",
      mend: "name result columns that identify a record", unknownWord: name, knownWords: known)
  }

  /// Positions of the columns that show primary keys whole, table by table.
  func keyFromOrigins(_ origins: [ColumnOrigin?]) throws -> [Int] {
    let tables = origins.compactMap { $0?.table }.uniqued()
    return try tables.filter(facts.isTable).flatMap {
      origins.positions(of: try facts.primaryKey(of: $0).columns, of: $0) ?? []
    }
  }
}

extension StatementText {
  /// The first statement's text as SQLite kept it, without the semicolon that ends it.
  package var sqlWithoutSemicolon: String {
    let text = sqlite3_sql(statement.sqliteStatement).map { String(cString: $0) } ?? statement.sql
    guard let end = text.lastIndex(where: { $0 != ";" && !$0.isWhitespace }) else { return text }
    return String(text[...end])
  }
}

extension RecordLayout {
  /// Takes the key and the hidden columns of a query that is maintained row by row.
  mutating func take(_ shape: IncrementalShape, outer: Int = 0) {
    columnCount = shape.list.count + outer
    key = shape.key
    keyNames += shape.addedKeyNames
    keyIsUnique = shape.keyIsUnique
  }
}
