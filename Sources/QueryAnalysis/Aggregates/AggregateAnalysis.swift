import GRDB
import OrderedResults

/// Finds out which statements aggregate rows that can be followed one by one.
struct AggregateAnalysis {
  let definition: QueryDefinition
  let db: Database
  let functions: FunctionList
  private let budget: AnalysisBudget

  init(_ definition: QueryDefinition, _ budget: AnalysisBudget, in db: Database) throws {
    self.definition = definition
    self.db = db
    self.budget = budget
    functions = try FunctionList(db)
  }

  /// Rows that aggregates of one or several statements are of.
  struct Rows {
    let prefix: String
    let suffix: String
    /// What stands before the columns, and orders the rows before them: that of a group.
    var terms: [String] = []
    /// Whether the first column is what orders them.
    let areOrdered: Bool
    /// Whether there is one for each value; never of groups.
    let areDistinct: Bool
    var columns: [String]

    var sql: String {
      let all = terms + columns
      let list = all.isEmpty ? "1" : all.map(\.parenthesized).joined(separator: ", ")
      let select = areDistinct ? "SELECT DISTINCT" : "SELECT"
      let order = (1...terms.count + 1).map(String.init).joined(separator: ", ")
      return "\(prefix)\(select) \(list) \(suffix)" + (areOrdered ? "\nORDER BY \(order)" : "")
    }

    /// How many of the first columns decide the order of the rows.
    var orderedCount: Int { areOrdered ? terms.count + 1 : 0 }

    func areThose(of syntax: AggregateSyntax) -> Bool {
      prefix == syntax.prefix && suffix == syntax.suffix
    }
  }

  /// How the values of some statements are kept, or why they are not: one for each.
  func plans(for statements: [StatementText]) throws -> [Result<AggregatePlan, NotIncremental>] {
    let parsed = try statements.map(syntax)
    let all = Self.rows(of: parsed.compactMap { try? $0.get() })
    let queries = try all.map(query)
    return parsed.map { syntax in
      syntax.flatMap { syntax in plan(syntax, all, queries) }
    }
  }

  /// A statement taken apart, where each of its calls could be followed alone.
  private func syntax(
    of text: StatementText
  ) throws -> Result<AggregateSyntax, NotIncremental> {
    do {
      let syntax = try AggregateSyntax(text.sqlWithoutSemicolon, functions)
      for call in syntax.calls {
        var alone: [Rows] = []
        _ = Self.place(of: call, syntax, in: &alone)
        _ = try query(alone[0]).get()
      }
      return .success(syntax)
    } catch let refusal as NotIncremental {
      return .failure(refusal)
    }
  }

  /// The rows of all calls: one set serves as many as it can.
  static func rows(
    of statements: [AggregateSyntax], groupedBy terms: [String] = []
  ) -> [Rows] {
    var all: [Rows] = []
    for needsOrder in [true, false] {
      for syntax in statements {
        for call in syntax.calls where call.needsOrder(in: !terms.isEmpty) == needsOrder {
          _ = place(of: call, syntax, terms, in: &all)
        }
      }
    }
    return all
  }

  func plan(
    _ syntax: AggregateSyntax, _ all: [Rows], _ queries: [Result<Query, NotIncremental>],
    groupedBy terms: [String] = []
  ) -> Result<AggregatePlan, NotIncremental> {
    var all = all
    return Result { () throws(NotIncremental) in
      var aggregates: [Aggregate] = []
      for call in syntax.calls {
        let (rows, column) = Self.place(of: call, syntax, terms, in: &all)
        aggregates.append(
          Aggregate(
            function: call.function, rows: try queries[rows].get().definition, column: column,
            countsOnce: call.isDistinct && !all[rows].areDistinct))
      }
      if let expression = syntax.expression,
        (try? db.makeStatement(sql: "SELECT \(expression)")) == nil
      {
        throw NotIncremental(reason: "it is more than a function of its aggregates")
      }
      return AggregatePlan(
        aggregates: aggregates, expression: syntax.expression.map { "SELECT \($0)" })
    }
  }

  /// Which of the rows a call is of, and which of their columns; they are added where they are missing.
  private static func place(
    of call: AggregateSyntax.Call, _ syntax: AggregateSyntax, _ terms: [String] = [],
    in all: inout [Rows]
  ) -> (rows: Int, column: Int?) {
    let needsOrder = call.needsOrder(in: !terms.isEmpty)
    let areDistinct = call.isDistinct && !needsOrder
    let known = all.firstIndex {
      $0.areThose(of: syntax) && $0.areDistinct == areDistinct
        && (!areDistinct || $0.columns.first == call.argument)
        && (!needsOrder || $0.areOrdered && $0.columns.first == call.argument)
    }
    let rows = known ?? all.count
    if known == nil {
      all.append(
        Rows(
          prefix: syntax.prefix, suffix: syntax.suffix, terms: terms, areOrdered: needsOrder,
          areDistinct: areDistinct, columns: []))
    }
    guard let argument = call.argument else { return (rows, nil) }
    if let column = all[rows].columns.firstIndex(of: argument) {
      return (rows, terms.count + column)
    }
    all[rows].columns.append(argument)
    return (rows, terms.count + all[rows].columns.count - 1)
  }

  /// The rows as a query that is kept up to date row by row.
  func query(_ rows: Rows) throws -> Result<Query, NotIncremental> {
    let sql = rows.sql
    let used = Set(SQLFragment.parameterNames(of: sql))
    var query = QueryDefinition(
      name: "rows of aggregates", form: .sql(sql),
      parameters: definition.parameters.filter { used.contains($0.name) })
    query.servesOthers = true
    query.repeatsColumnNames = true
    let analyzed: Query
    do {
      analyzed = try Query.analyzed(query, budget, in: db)
    } catch is QueryProblems {
      return .failure(NotIncremental(reason: "its rows cannot be read by themselves"))
    }
    guard let plan = analyzed.plan else {
      return .failure(NotIncremental(reason: analyzed.tracking.reason))
    }
    // Which of the values that are equal under another collation SQLite shows is its own choice.
    if plan.order.terms.prefix(rows.orderedCount).contains(where: { $0.collation != .binary }) {
      return .failure(NotIncremental(reason: "it compares under another collation than BINARY"))
    }
    // A group that is read again may take its rows in another order than SQLite takes all of them.
    if plan.isGrouped, functions.sums(in: plan.records.beforeKeys) {
      return .failure(NotIncremental(reason: "the last digits of a group's sums are not certain"))
    }
    if plan.completesWindows {
      return .failure(
        NotIncremental(reason: "the ORDER BY of a window takes rows for equal: end it with a key"))
    }
    if let refusal = plan.leads.compactMap(\.refusal).first {
      return .failure(NotIncremental(reason: refusal))
    }
    // Else a row that comes or goes has all those read again that belong to the same owner.
    if !rows.terms.isEmpty, !plan.hasOneRecordAnOwner {
      return .failure(NotIncremental(reason: "its rows are not followed one by one"))
    }
    return .success(analyzed)
  }
}
