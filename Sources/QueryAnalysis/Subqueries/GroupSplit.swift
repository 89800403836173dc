// SELECTs that make groups and have window functions, which look at several of them.
extension ResolvedSelect {
  /// The same with two SELECTs in the place of the one that makes the groups, if that has window functions: one for the
  /// groups, and one around it for the functions.
  ///
  /// - Parameters:
  ///   - names: those of its columns.
  ///   - functions: those that there are.
  /// - Returns: nil where it is not certain what the functions look at.
  func splittingGroups(named names: [String], _ functions: FunctionList) -> ResolvedSelect? {
    if isGrouped {
      if !hasWindows { return self }
      var split = GroupSplit(self, functions)
      return split.around(named: names)
    }
    guard isOverParts, case .select(let inner, let given) = sources[0].body,
      let split = inner.splittingGroups(named: sources[0].columns, functions)
    else { return nil }
    var source = sources[0]
    source.body = .select(split, names: given)
    return ResolvedSelect(syntax: syntax, sources: [source])
  }
}

/// Takes a SELECT apart that makes groups and has window functions.
private struct GroupSplit {
  private let grouped: ResolvedSelect
  private let functions: FunctionList
  private let terms: [GroupTerm]
  /// What the window functions, and the columns, look at beside what is grouped by.
  private var values: [String] = []

  private static let groupsName = "didchange groups"

  init(_ grouped: ResolvedSelect, _ functions: FunctionList) {
    (self.grouped, self.functions) = (grouped, functions)
    terms = grouped.groupTerms.map { GroupTerm($0, in: grouped) }
  }

  /// The SELECT around the groups.
  mutating func around(named names: [String]) -> ResolvedSelect? {
    guard !grouped.syntax.isDistinct, let columns = grouped.expandedColumns,
      columns.count == names.count, columns.allSatisfy({ Subquery.all(in: $0.text).isEmpty }),
      // What looks at no table may be the number of a column.
      terms.allSatisfy({ !$0.tables.isEmpty })
    else { return nil }
    var syntax = SelectSyntax(
      columns: zip(columns, names).map { column, name in
        ResultColumn("\(aroundGroups(column.expression)) AS \(name.quotedIdentifier)")
      },
      sources: [
        SourceSyntax(origin: .table(schema: nil, name: Self.groupsName), alias: nil)
      ])
    syntax.windows = grouped.syntax.windows.map { aroundGroups($0) }
    syntax.order = grouped.syntax.order.map { term in
      let name = SQLTokens.tokens(of: OrderTerm(term).expression).columnName
      let isName = name.map { name in
        name.qualifier == nil && names.contains(where: name.name.isSameIdentifier)
      }
      return isName == true ? term : aroundGroups(term)
    }
    syntax.limit = grouped.syntax.limit
    return ResolvedSelect(syntax: syntax, sources: [source])
  }

  /// The groups by themselves.
  private var source: ResolvedSource {
    var syntax = grouped.syntax
    syntax.columns = values.enumerated().map { number, value in
      ResultColumn("\(value.parenthesized) AS \(Self.valueName(number).quotedIdentifier)")
    }
    syntax.groupBy = grouped.groupTerms
    syntax.having = grouped.syntax.having.map(grouped.withoutNames)
    (syntax.windows, syntax.order, syntax.limit) = ([], [], nil)
    let tables = grouped.tables.map { table in
      var table = table
      (table.rowID, table.keyColumns) = (nil, [])
      return table
    }
    return ResolvedSource(
      body: .select(ResolvedSelect(syntax: syntax, sources: grouped.sources), names: nil),
      name: Self.groupsName, columns: values.indices.map(Self.valueName), tables: tables,
      isLeftJoined: false, constraint: .none, table: Self.groupsName)
  }

  private static func valueName(_ number: Int) -> String { "didchange value \(number)" }

  // MARK: - Expressions

  /// An expression over the rows of groups as one over the groups.
  private mutating func aroundGroups(_ expression: String) -> String {
    let tokens = SQLTokens.tokens(of: expression)
    var text = ""
    var end = expression.startIndex
    var index = 0
    while index < tokens.count {
      guard let part = part(at: index, in: tokens) else {
        index += 1
        continue
      }
      text += expression[end..<tokens[index].text.startIndex] + part.name
      index += part.length
      end = tokens[index - 1].text.endIndex
    }
    return text + expression[end...]
  }

  /// What groups have one value of, and begins at a token; nil: it may have several parts.
  private mutating func part(
    at index: Int, in tokens: [SQLToken]
  ) -> (length: Int, name: String)? {
    for (number, term) in terms.enumerated() {
      guard let length = term.length(at: index, in: tokens[...]) else { continue }
      return (length, named(ResolvedSelect.groupName(number)))
    }
    var rest = tokens[index...]
    if functions.isAggregate(calledBy: rest) {
      rest.removeFirst()
      _ = rest.takeParentheses()
      if rest.take("FILTER") { _ = rest.takeParentheses() }
      // Of the groups.
      if rest.first?.isWord("OVER") == true { return nil }
      return (rest.startIndex - index, value(tokens[index..<rest.startIndex]))
    }
    let isQualified = index + 2 < tokens.count && tokens[index + 1].isSymbol(".")
    let length = isQualified ? 3 : 1
    let isCalled = index + length < tokens.count && tokens[index + length].isSymbol("(")
    let name = tokens[index..<index + length]
    guard !isCalled, isQualified || !tokens[index].isKeyword, let column = name.columnName,
      grouped.sources.contains(where: { $0.mayOwn(column) })
    else { return nil }
    let term = GroupTerm(name.sourceText, in: grouped)
    if let number = terms.firstIndex(of: term) {
      return (length, named(ResolvedSelect.groupName(number)))
    }
    return (length, value(name))
  }

  /// A column of the groups with a value.
  private mutating func value(_ tokens: ArraySlice<SQLToken>) -> String {
    let text = tokens.sourceText
    let number = values.firstIndex(of: text) ?? values.count
    if number == values.count { values.append(text) }
    return named(Self.valueName(number).quotedIdentifier)
  }

  private func named(_ column: String) -> String { "\(Self.groupsName.quotedIdentifier).\(column)" }
}
