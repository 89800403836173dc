import GRDB

/// Whether each row that a SELECT returns depends on one row of each of its tables, and on nothing
/// else but subqueries, which are looked at by themselves.
struct RowLocality {
  private(set) var functions: FunctionList
  private let db: Database

  init(_ db: Database) throws {
    functions = try FunctionList(db)
    self.db = db
  }

  /// The same where somebody else sees to the order of a group's rows.
  var allowingOrder: RowLocality {
    var copy = self
    copy.functions = functions.allowingOrder
    return copy
  }

  /// Whether an expression calls an aggregate that depends on the order in which SQLite finds the rows of a SELECT.
  func dependsOnOrder(_ expression: String, of select: ResolvedSelect) -> Bool {
    functions.dependsOnOrder(expression) { select.settlesOrder(of: $0, in: db) }
  }

  /// Aggregates may be allowed in the list, HAVING and ORDER BY; subqueries are everywhere but in GROUP
  /// BY, and in what a function is called with.
  ///
  /// Window functions may be allowed, which are looked at by themselves, in the list and ORDER BY.
  ///
  /// - Throws: ``NotIncremental`` where something else than one row of each table counts.
  func check(
    _ select: ResolvedSelect, allowingAggregates: Bool = false, allowingWindows: Bool = false
  ) throws(NotIncremental) {
    let syntax = select.syntax
    for expression in syntax.groupBy + select.sources.compactMap(\.arguments) {
      try check(expression, of: select)
    }
    for condition in select.sources.map(\.condition) + [syntax.predicate] {
      guard let condition else { continue }
      try check(condition, of: select, isCondition: true, allowingSubqueries: true)
    }
    for expression in syntax.columns.map(\.text) + [syntax.having].compactMap(\.self) + syntax.order
    {
      try check(
        expression, of: select, allowingAggregates: allowingAggregates, allowingSubqueries: true,
        allowingWindows: allowingWindows)
    }
  }

  /// Each row of a SELECT over groups or partitions is a function of one of their rows, whatever its
  /// conditions look at.
  func checkOverParts(
    _ select: ResolvedSelect, allowingWindows: Bool = false
  ) throws(NotIncremental) {
    let syntax = select.syntax
    for expression in syntax.columns.map(\.text) + syntax.order {
      try check(expression, allowingWindows: allowingWindows)
    }
    if let predicate = syntax.predicate { try check(predicate) }
  }

  func check(
    _ expression: String, of select: ResolvedSelect? = nil, isCondition: Bool = false,
    allowingAggregates: Bool = false, allowingSubqueries: Bool = false,
    allowingWindows: Bool = false
  ) throws(NotIncremental) {
    var tokens = SQLTokens.tokens(of: expression)
    if let select {
      tokens = try withoutSearchFunctions(tokens, of: select, isCondition: isCondition)
    }
    if allowingSubqueries { tokens = tokens[...].withoutSubqueries }
    if allowingWindows { tokens = tokens[...].withoutWindowFunctions }
    do {
      try functions.check(tokens, allowingAggregates: allowingAggregates) {
        select?.settlesOrder(of: $0, in: db) == true
      }
    } catch {
      throw NotIncremental(reason: "\(error.description): \(expression.trimmingSpaces)")
    }
  }
}

extension ResolvedSource {
  var arguments: String? {
    switch body {
    case .function(let arguments): arguments
    case .search(_, let arguments): arguments
    case .table, .select: nil
    }
  }

  var condition: String? { if case .on(let condition) = constraint { condition } else { nil } }
}
