import GRDB
import OrderedResults

extension IncrementalAnalysis: OrderedAnalysis {
  var orderTerms: [String] { candidate.syntax.order }

  /// The order of the records, in which SQLite reads them without sorting if the key behind the query's own
  /// terms goes one way or the other: an index may have either.
  mutating func indexedOrder() throws -> AskedOrder {
    for isReversed in [false, true] {
      var attempt = self
      let order = try attempt.recordOrder(reversingKey: isReversed)
      guard db.isReadInOrder(attempt.statement(order: order.sql)) else { continue }
      self = attempt
      return order
    }
    return try recordOrder()
  }

  /// The order of the records.
  ///
  /// The key stands behind the query's own terms: which of two records comes first that SQL leaves open,
  /// is settled by it; and by rowids, where several records may have it.
  ///
  /// What stands behind goes the way of the last of the query's own terms, or the other one.
  mutating func recordOrder(reversingKey isReversed: Bool = false) throws -> AskedOrder {
    var order = try askedOrder()
    if isReversed { order.isDescending.toggle() }
    for column in key + tiebreakers {
      try order.append(
        term(
          .init(
            column: column, collation: collation(ofColumn: column),
            isDescending: order.isDescending)))
    }
    return order
  }

  /// ORDER BY takes a name for that of a result column first, and an integer for its number; in
  /// longer expressions a name is that of a table's column.
  mutating func position(ofOrder term: OrderTerm) throws -> Int {
    let tokens = SQLTokens.tokens(of: term.expression)[...].withoutParentheses
    if tokens.count == 1, tokens.first?.kind == .number {
      guard let ordinal = Int(tokens.sourceText), (1...list.visible.count).contains(ordinal) else {
        throw NotIncremental(reason: "it orders by the number \(term.expression)")
      }
      return ordinal - 1
    }
    if tokens.count == 1, let name = tokens.first?.name,
      let visible = list.visible.firstIndex(where: { $0.isSameIdentifier(as: name) })
    {
      return visible
    }
    let words = tokens.map(\.folded)
    for position in 0..<list.count {
      guard let expression = expression(ofColumn: position) else { continue }
      let own = SQLTokens.tokens(of: expression)[...].withoutParentheses
      if own.map(\.folded) == words { return position }
    }
    let expression = term.expression.withoutTextInQuotationMarks
    try checkIsOfRow(expression)
    return list.append(hidden: expression)
  }

  /// - Throws: ``NotIncremental`` where an expression of the order looks at a result column.
  func checkIsOfRow(_ expression: String) throws(NotIncremental) {
    guard (try? db.makeStatement(sql: body([expression.parenthesized]))) != nil else {
      throw NotIncremental(reason: "it orders by more than its row: \(expression)")
    }
  }

  // MARK: - Collations

  func collation(ofColumn position: Int, written: String? = nil) throws -> Collation {
    let name =
      try written?.uppercased() ?? collationName(of: expression(ofColumn: position), position)
    guard let collation = Collation(rawValue: name) else {
      throw NotIncremental(reason: "only SQLite can compare by the collation \(name)")
    }
    return collation
  }

  /// The collation that SQLite uses for an expression.
  ///
  /// A column brings its own, through views and subqueries of FROM; the result of a function or of a
  /// subquery has BINARY.
  /// Other expressions would have to be looked at more closely; where every column has BINARY and
  /// nothing says COLLATE, there is nothing to look for.
  /// https://www.sqlite.org/datatype3.html#assigning_collating_sequences_from_sql
  func collationName(of expression: String?, _ position: Int) throws -> String {
    let expression = expression.map { shown.expressionOverRows($0) ?? $0 }
    if let column = expression.flatMap(select.origin(of:)) {
      // A rowid is a number.
      return facts.collations(of: select.tables[column.table].name)[column.name] ?? "BINARY"
    }
    if let expression, select.isColumnOfFunction(expression) { return "BINARY" }
    let inner = expression.map { SQLTokens.tokens(of: select.expression(shownBy: $0)) }
    let bare = inner.map { Array($0[...].withoutParentheses) }
    if bare?.isOneCall == true || inner?.isOneSubquery == true || bare?[...].isNumber == true {
      return "BINARY"
    }
    let names = select.tables.flatMap { facts.collations(of: $0.name).values }
    let mentionsCollate = shown.mentionsCollate || expression?.mentionsCollate == true
    guard names.allSatisfy({ $0 == "BINARY" }), !mentionsCollate else {
      let text = expression ?? list.visible[position]
      throw NotIncremental(reason: "the collation of \(text) is not known: write COLLATE")
    }
    return "BINARY"
  }
}

extension ResolvedSelect {
  fileprivate var mentionsCollate: Bool {
    syntax.columns.contains { $0.text.mentionsCollate }
      || sources.contains { source in
        if case .select(let inner, _) = source.body { inner.mentionsCollate } else { false }
      }
  }
}

extension Array<SQLToken> {
  /// Whether this is `(SELECT …)` or `EXISTS (SELECT …)`, and nothing else.
  fileprivate var isOneSubquery: Bool {
    let rest = self[...].withoutSubqueries.drop { $0.isWord("NOT") || $0.isWord("EXISTS") }
    return rest.count == 2 && rest.count < count && rest.first?.isSymbol("(") == true
  }

  /// Whether this is the call of one function, and COLLATE is not among what it is called with.
  var isOneCall: Bool {
    var rest = dropFirst()
    guard first?.kind == .word, rest.takeParentheses() != nil else { return false }
    if rest.take("FILTER") { _ = rest.takeParentheses() }
    if rest.take("OVER"), rest.takeParentheses() == nil { _ = rest.popFirst() }
    guard rest.isEmpty else { return false }
    // The words before a parenthesis that are no functions.
    let others = ["NOT", "EXISTS", "CASE", "CAST", "SELECT"]
    return !contains { $0.isWord("COLLATE") } && !others.contains { self[0].isWord($0) }
  }
}

extension SQLToken {
  /// The same for tokens that SQLite takes for the same.
  var folded: String {
    kind == .word || kind == .quotedName ? (name ?? "").lowercased() : String(text)
  }
}

extension String {
  fileprivate var mentionsCollate: Bool {
    SQLTokens.tokens(of: self).contains { $0.isWord("COLLATE") }
  }

  /// The expression with names in "" as names in ``.
  ///
  /// What is in double quotation marks becomes text where it is no column's name; an expression
  /// that changes its place must not change its meaning like that.
  var withoutTextInQuotationMarks: String {
    var result = ""
    var end = startIndex
    for token in SQLTokens.tokens(of: self) where token.kind == .quotedName {
      guard token.text.first == "\"", let name = token.name else { continue }
      result += self[end..<token.text.startIndex]
      result += "`\(name.replacing("`", with: "``"))`"
      end = token.text.endIndex
    }
    return result + self[end...]
  }
}
