/// A call of a window function: `name(…) [FILTER (WHERE …)] OVER …`.
///
/// https://www.sqlite.org/windowfunctions.html
struct WindowFunction {
  let name: String
  let arguments: ArraySlice<SQLToken>
  let filter: ArraySlice<SQLToken>
  let window: WindowDefinition

  /// Whether its value is certain where ORDER BY leaves open which of some rows comes first.
  ///
  /// Sums of a frame that only grows add the same numbers in whatever order: of reals the last
  /// digits may differ, as in groups. Where rows leave the frame, what is large may have swallowed
  /// what is small.
  var hasOneValue: Bool {
    switch name.lowercased() {
    case "rank", "dense_rank", "percent_rank", "cume_dist": true
    case "count", "min", "max": !window.dividesEqualRows
    case "sum", "total", "avg": !window.dividesEqualRows && window.onlyGrows
    default: false
    }
  }

  /// Whether SQL allows each of its values that it has where the rows which ORDER BY takes for equal come
  /// one after the other.
  ///
  /// With more terms behind ORDER BY no two rows are equal. What looks at those that are equal has another
  /// value then; these functions look at places, and at frames of rows.
  var mayTellEqualRowsApart: Bool {
    switch name.lowercased() {
    // RANGE with a number takes one term.
    case "row_number", "ntile", "lag", "lead": !window.frame.contains { $0.isWord("RANGE") }
    case "first_value" where window.frame.isEmpty: !window.order.isEmpty
    default:
      isKnown && !window.order.isEmpty && window.frame.first?.isWord("ROWS") == true
        && !window.frame.contains { $0.isWord("EXCLUDE") }
    }
  }

  /// Whether its value is one of those that compare as equal, which may look different.
  var showsOneOfEqualValues: Bool { ["min", "max"].contains(name.lowercased()) }

  /// Whether it is the place of its row among others, which goes up in the order of its window.
  var isRank: Bool {
    filter.isEmpty && ["row_number", "rank", "dense_rank"].contains(name.lowercased())
  }

  /// Whether it looks at no row behind its own and those that are equal to it, and SQLite reads none: it takes
  /// the frames of some functions for others than are written.
  ///
  /// https://www.sqlite.org/windowfunctions.html#built_in_window_functions
  var looksBack: Bool {
    switch name.lowercased() {
    case "row_number", "rank", "dense_rank": true
    // An offset may be less than nothing.
    case "lag": !arguments.contains { $0.isSymbol(",") }
    case "lead", "ntile", "percent_rank", "cume_dist": false
    default: window.endsWithRow
    }
  }

  /// Whether its value is certain where no two rows are equal. Functions of an application may be
  /// whatever they like.
  var isKnown: Bool {
    let ordered = [
      "row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
      "group_concat", "json_group_array", "json_group_object", "rank", "dense_rank",
      "percent_rank", "cume_dist",
    ]
    let name = name.lowercased()
    return ordered.contains(name) || Aggregate.Function(rawValue: name) != nil
  }
}

/// The window functions of a SELECT.
struct WindowFunctions {
  private(set) var functions: [WindowFunction] = []
  private let named: NamedWindows

  /// Those of a SELECT with GROUP BY look at its groups, and may call aggregates of these.
  ///
  /// - Throws: ``NotIncremental`` where one is more than a function of the rows of its partition.
  init(
    _ syntax: SelectSyntax, hidden: [String], _ locality: RowLocality
  ) throws(NotIncremental) {
    let areBesideGroupBy = !syntax.groupBy.isEmpty
    named = NamedWindows(syntax.windows)
    for expression in syntax.columns.map(\.text) + hidden + syntax.order {
      for call in SQLTokens.tokens(of: expression)[...].withoutSubqueries[...].windowCalls {
        let function = try WindowFunction(call, named)
        try function.check(locality, allowingAggregates: areBesideGroupBy)
        functions.append(function)
      }
    }
  }

  /// The function that an expression calls, if it is nothing but that.
  func call(_ expression: String) -> WindowFunction? {
    let tokens = SQLTokens.tokens(of: expression)[...].withoutParentheses
    let calls = tokens.windowCalls
    guard calls.count == 1, tokens.withoutWindowFunctions.isEmpty else { return nil }
    return try? WindowFunction(calls[0], named)
  }

  /// An expression of the SELECT with more terms at the end of ORDER BY in the windows of the functions that
  /// are meant; they go the way of the term before them.
  func adding(
    _ terms: [String], toOrderIn expression: String, where isMeant: (WindowFunction) -> Bool
  ) -> String {
    var text = ""
    var end = expression.startIndex
    for call in SQLTokens.tokens(of: expression)[...].withoutSubqueries[...].windowCalls {
      guard let function = try? WindowFunction(call, named), isMeant(function),
        let window = named.body(of: call.window)
          .flatMap({ function.window.adding(terms, toOrderIn: $0) })
      else { continue }
      text += expression[end..<call.place.lowerBound] + window.parenthesized
      end = call.place.upperBound
    }
    return text + expression[end...]
  }
}

extension WindowFunction {
  fileprivate init(_ call: WindowCall, _ named: NamedWindows) throws(NotIncremental) {
    self.init(
      name: call.name, arguments: call.arguments, filter: call.filter,
      window: try named.definition(of: call.window))
  }

  fileprivate func check(
    _ locality: RowLocality, allowingAggregates: Bool
  ) throws(NotIncremental) {
    let terms = window.partition + window.order.map(\.expression)
    for expression in terms + [arguments, filter, window.frame].map(\.sourceText) {
      try locality.check(expression, allowingAggregates: allowingAggregates)
    }
    guard isKnown else { throw NotIncremental(reason: "what \(name)() OVER does is not known") }
  }
}

/// A window function as it is written.
private struct WindowCall {
  let name: String
  let arguments: ArraySlice<SQLToken>
  let filter: ArraySlice<SQLToken>
  let window: WindowReference
  /// Where its window stands in the text, with its parentheses.
  let place: Range<String.Index>
}

extension ArraySlice<SQLToken> {
  fileprivate var windowCalls: [WindowCall] {
    var rest = self
    var calls: [WindowCall] = []
    while !rest.isEmpty {
      if let call = rest.takeWindowCall() { calls.append(call) } else { rest.removeFirst() }
    }
    return calls
  }

  /// Whether there is a window function in them, outside of subqueries.
  var callsWindowFunction: Bool { !withoutSubqueries[...].windowCalls.isEmpty }

  /// The tokens without window functions.
  var withoutWindowFunctions: [SQLToken] {
    var rest = self
    var others: [SQLToken] = []
    while !rest.isEmpty {
      if rest.takeWindowCall() == nil { others.append(rest.removeFirst()) }
    }
    return others
  }

  private mutating func takeWindowCall() -> WindowCall? {
    var rest = self
    guard let name = rest.popFirst()?.name, let arguments = rest.takeParentheses() else {
      return nil
    }
    let filter = rest.take("FILTER") ? rest.takeParentheses() ?? [] : []
    // OVER may be an alias, too.
    guard rest.take("OVER"), let start = rest.first?.text.startIndex,
      let window = rest.takeWindow()
    else { return nil }
    let end = self[rest.startIndex - 1].text.endIndex
    self = rest
    return WindowCall(
      name: name, arguments: arguments, filter: filter, window: window, place: start..<end)
  }

  private mutating func takeWindow() -> WindowReference? {
    if let body = takeParentheses() { return .body(body) }
    guard let name = first?.name else { return nil }
    removeFirst()
    return .name(name)
  }
}
