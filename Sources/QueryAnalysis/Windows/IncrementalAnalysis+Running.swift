import OrderedResults

// Windows of all rows, or groups, in the order of the records, whose functions look at those before, or at the next
// one: places, running sums.
extension IncrementalAnalysis {
  /// Records of rows or groups, read by themselves. What depends on those before is worked out, from those on that came
  /// or went.
  ///
  /// - Throws: ``NotIncremental`` where a window has another order, or a function tells something else.
  mutating func runningShape() throws -> IncrementalShape {
    guard !isOverParts || isOverGroups, candidate.resultExpressions.isEmpty else {
      throw NotIncremental(reason: "its windows are those of a subquery")
    }
    let columns = try columnsOfFunctions()
    let order = try orderOfRows()
    candidate.syntax.order = order.map(\.sql)
    let arguments = try columns.map { try position(ofTerm: $0.function) }
    let asked = try recordOrder()
    let running = Set(columns.map(\.column))
    guard !list.hidden.contains(where: \.callsWindowFunction) else {
      throw NotIncremental(reason: "it orders by a window function that is no column by itself")
    }
    guard !asked.terms.contains(where: { running.contains($0.column) }),
      zip(order, try rowOrder(asked)).allSatisfy(areSame)
    else { throw NotIncremental(reason: "its key, its sections or its order has such a column") }
    let runningColumns = try zip(columns, arguments).map { column, argument in
      RunningColumn(
        column: column.column, kind: try column.function.kind(of: argument),
        terms: try terms(of: column.function, among: asked))
    }
    var shape = try select.isGrouped ? groupShape() : rowShape()
    shape.plan.running = runningColumns
    shape.reason += "; what that changes of those behind it is counted"
    return shape
  }

  /// The columns that show a function of the rows before, or of the next one, each by itself.
  private func columnsOfFunctions() throws -> [(column: Int, function: WindowFunction)] {
    guard let items else { throw NotIncremental(reason: "what * stands for is not certain") }
    return try items.enumerated().compactMap { column, item in
      guard item.expression.callsWindowFunction else { return nil }
      guard let function = windows.call(item.expression), function.runs else {
        throw NotIncremental(
          reason: "\(item.expression) is more than what the rows before it make, or the next one")
      }
      return (column, function)
    }
  }

  /// The column that has what a function counts, adds, compares or shows; nil: it looks at no value.
  private mutating func position(ofTerm function: WindowFunction) throws -> Int? {
    guard let expression = function.term else { return nil }
    try checkIsOfRow(expression)
    if function.takesIntegers, let origin = seenByWindows.origin(of: expression) {
      let table = select.tables[origin.table].name
      guard
        [nil, .integer, .numeric].contains(facts.comparison(of: origin.name, in: table)?.affinity)
      else { throw NotIncremental(reason: "\(expression) does not hold integers") }
    }
    let term = termOfWindows(expression)
    let shown = (0..<list.count).first { column in
      self.expression(ofColumn: column).map(termOfWindows) == term
    }
    return shown ?? list.append(hidden: expression)
  }

  /// The order of the records without their places: by what these are in the order of.
  func orderOfRows() throws -> [OrderTerm] {
    var attempt = self
    let asked = try attempt.askedOrder()
    return try attempt.rowOrder(asked)
  }

  /// How many terms of the order tell which rows are equal for a window: all, where none are.
  private func terms(of function: WindowFunction, among asked: AskedOrder) throws -> Int {
    let window = function.window
    let isTotal = self.isTotal(window)
    let count = isTotal ? asked.terms.count : window.order.count
    guard window.partition.isEmpty, !window.order.isEmpty, count <= asked.terms.count,
      isTotal || function.isRank,
      case let order = try rowOrder(
        AskedOrder(
          terms: Array(asked.terms.prefix(count)), sql: Array(asked.sql.prefix(count)),
          isDescending: false)),
      isTotal || order.count == count, zip(window.order, order).allSatisfy(areSame)
    else { throw NotIncremental(reason: "a window has another order than the records") }
    return count
  }
}

extension String {
  fileprivate var callsWindowFunction: Bool {
    SQLTokens.tokens(of: self)[...].callsWindowFunction
  }
}

extension WindowFunction {
  /// What is counted, added, compared or shown; nil: it looks at no value.
  fileprivate var term: String? { isRank || isCountOfRows ? nil : arguments.sourceText }

  fileprivate var takesIntegers: Bool { ["sum", "min", "max"].contains(name.lowercased()) }

  private var isCountOfRows: Bool { arguments.count == 1 && arguments.first?.isSymbol("*") == true }

  /// Whether its value follows from that of the row before, or from the next row.
  fileprivate var runs: Bool {
    if isRank { return true }
    let isPlain =
      !arguments.isEmpty && filter.isEmpty && window.isPrefix
      && !arguments.contains { $0.isWord("DISTINCT") || $0.isWord("SELECT") || $0.isSymbol(",") }
    return isPlain && ["count", "sum", "min", "max", "lag", "lead"].contains(name.lowercased())
  }

  /// `column` has what is counted, added, compared or shown.
  fileprivate func kind(of column: Int?) throws -> RunningColumn.Kind {
    switch (name.lowercased(), column) {
    case ("row_number", _), ("count", nil): .number
    case ("rank", _): .rank
    case ("dense_rank", _): .denseRank
    case ("count", let column?): .count(of: column)
    case ("sum", let column?): .sum(of: column)
    case ("max", let column?): .greatest(of: column)
    case ("min", let column?): .least(of: column)
    case ("lag", let column?): .before(of: column)
    case ("lead", let column?): .behind(of: column)
    default: throw NotIncremental(reason: "\(name)() does not follow from the row before")
    }
  }
}
