import GRDB
import OrderedResults

/// Finds out whether a query looks up one of the rows that a SELECT with window functions of all rows makes.
struct RowLookupAnalysis {
  let definition: QueryDefinition
  let budget: AnalysisBudget
  let db: Database

  static let reason = """
    it shows one row of many: these are followed, with their places, where running the query takes long
    """

  /// Behind the reason, where another statement runs in the place of the query.
  static let noteOfOrder = """
    ; rows that the ORDER BY of a window takes for equal come in the order of their rowid
    """

  /// How the record of a query is looked up; nil: it is another query, or the rows cannot be followed.
  ///
  /// - Parameters:
  ///   - sql: the query, without a semicolon.
  ///   - names: those of its columns.
  /// - Returns: also what runs in the place of the query, if that shall be another statement. nil, too, where
  ///   SQLite would have to be asked what a name means.
  /// - Throws: `DatabaseError` where the schema cannot be read.
  func lookup(
    in sql: String, names: [String]
  ) throws -> (lookup: RowLookup, sql: String?)? {
    guard let syntax = try? SelectParser.parse(sql), syntax.showsRowsAlone,
      let (name, wanted) = syntax.wantedKey, let rowID = key(wanted),
      let inner = try select(of: syntax)
    else { return nil }
    let used = Set(SQLFragment.parameterNames(of: inner))
    var rows = QueryDefinition(
      name: "rows of which one is shown", form: .sql(inner),
      parameters: definition.parameters.filter { used.contains($0.name) })
    rows.servesOthers = true
    guard let query = try? Query.analyzed(rows, budget, in: db), let plan = query.plan,
      case .row(let column) = plan.owner, !plan.running.isEmpty, plan.window == nil,
      plan.leads.count == 1, plan.contributions.isEmpty
    else { return nil }
    let known = query.layout.columns
    guard known.firstIndex(where: name.isSameIdentifier) == column,
      let columns = syntax.positions(among: known), columns.count == names.count
    else { return nil }
    let lookup = RowLookup(rows: rows, columns: columns, rowID: rowID)
    if !plan.completesWindows { return (lookup, nil) }
    let list = zip(columns, names).map { column, name in
      "\(known[column].quotedIdentifier) AS \(name.quotedIdentifier)"
    }
    // With an order of its own it does not ask for that of the rows.
    let statement = """
      SELECT \(list.joined(separator: ", "))
      FROM (
      \(query.sql)
      )
      WHERE \(name.quotedIdentifier) = \(wanted.text)
      ORDER BY 1
      """
    return (lookup, statement)
  }

  /// What an integer, or a parameter that takes one, stands for; nil: it is something else.
  private func key(_ token: SQLToken) -> RowLookup.Key? {
    switch token.kind {
    case .number: return Int64(token.text).map { .integer($0) }
    case .parameter:
      let name = String(token.text.dropFirst())
      let type = definition.parameters.first { $0.name == name }?.type
      return type == .integer ? .parameter(name) : nil
    case .word, .quotedName, .string, .symbol: return nil
    }
  }

  /// The SELECT that is all of FROM: a subquery, the only table of WITH, or a view.
  private func select(of syntax: SelectSyntax) throws -> String? {
    switch syntax.sources[0].origin {
    case .function, .table(.some, _): return nil
    case .select(let sql): return syntax.commonTables.isEmpty ? sql : nil
    case .table(nil, let name):
      let tables = syntax.commonTables
      let table = try tables.isEmpty ? SchemaFacts(db: db).view(name) : tables[0]
      guard tables.count < 2, let table, table.columns == nil,
        table.name.isSameIdentifier(as: name)
      else { return nil }
      return table.select
    }
  }
}

extension SelectSyntax {
  /// Whether it has one source, and leaves rows out of it at most.
  fileprivate var showsRowsAlone: Bool {
    sources.count == 1 && !isDistinct && groupBy.isEmpty && having == nil && windows.isEmpty
      && (limit == nil || limit?.limit == "1" && limit?.offset == nil)
  }

  /// The column that WHERE compares with one token, and nothing else.
  fileprivate var wantedKey: (name: String, SQLToken)? {
    let tokens = SQLTokens.tokens(of: predicate ?? "")[...]
    guard tokens.conjuncts.count == 1, let (column, token) = tokens.columnOfOneValue,
      let name = column.columnName.flatMap(ownName)
    else { return nil }
    return (name, token)
  }

  /// Where its columns are among those of its source; nil: it computes, or two of them have one name.
  fileprivate func positions(among known: [String]) -> [Int]? {
    guard Set(known.map { $0.lowercased() }).count == known.count else { return nil }
    var positions: [Int] = []
    for column in columns {
      switch column.kind {
      case .all, .allOf: positions += known.indices
      case .expression:
        guard
          let name = SQLTokens.tokens(of: column.expression).columnName.flatMap(ownName),
          let position = known.firstIndex(where: name.isSameIdentifier)
        else { return nil }
        positions.append(position)
      }
    }
    return positions
  }

  /// The name of a column of its only source.
  private func ownName(_ column: ColumnName) -> String? {
    guard let qualifier = column.qualifier else { return column.name }
    var source = sources[0].alias
    if source == nil, case .table(_, let name) = sources[0].origin { source = name }
    return source?.isSameIdentifier(as: qualifier) == true ? column.name : nil
  }
}
