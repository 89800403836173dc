/// Finds aggregates of the rows that refer to a row, and writes parameters in their places.
struct OwnedAggregates {
  private let select: ResolvedSelect
  private let owner: Int
  private let resolver: SourceResolver
  private(set) var parts: [OwnedSyntax.Part] = []
  /// The column of the owners' table that they refer to, in small letters; nil: none is known yet.
  private(set) var key: String?
  /// Of a source that is joined, what is made of its rows.
  private var calls: [String] = []

  private static let name = "didchange_tally_"

  /// - Parameters:
  ///   - select: around them.
  ///   - owner: the number of the table whose rows they refer to.
  ///   - resolver: knows what names mean there.
  init(_ select: ResolvedSelect, ownedBy owner: Int, _ resolver: SourceResolver) {
    (self.select, self.owner, self.resolver) = (select, owner, resolver)
  }

  // MARK: - Subqueries

  /// An expression with parameters in the place of the subqueries that are such an aggregate.
  mutating func replacingSubqueries(in expression: String) -> String {
    var text = ""
    var end = expression.startIndex
    for subquery in Subquery.all(in: expression) {
      guard case .value = subquery.role, let first = subquery.body.first,
        let last = subquery.body.last, let groups = groups(of: subquery.body.sourceText)
      else { continue }
      let parameter = Self.name + String(parts.count)
      parts.append(OwnedSyntax.Part(parameters: [parameter], groups: groups))
      text += expression[end..<first.text.startIndex] + "SELECT :" + parameter
      end = last.text.endIndex
    }
    return text + expression[end...]
  }

  /// The rows that a subquery aggregates, by what they refer to; nil: it is another one.
  private mutating func groups(of sql: String) -> GroupSyntax? {
    guard let syntax = try? SelectParser.parse(sql), syntax.columns.count == 1,
      syntax.columns[0].kind == .expression, syntax.groupBy.isEmpty, syntax.order.isEmpty,
      syntax.limit == nil, syntax.expressions.allSatisfy({ Subquery.all(in: $0).isEmpty }),
      resolver.locality.functions.callsAggregate(syntax.columns[0].expression),
      let inner = resolver.rows(of: syntax, except: select.syntax.commonTables.map(\.name))?.select
    else { return nil }
    return groups(
      [syntax.columns[0].expression], of: inner.sources[0], where: syntax.conditions)
  }

  // MARK: - A source that is joined

  /// An expression with parameters in the place of aggregates.
  ///
  /// - Parameters:
  ///   - expression: of the query.
  ///   - takes: whether an aggregate is one of those that may be known.
  /// - Returns: nil where more stands there than these and what all rows of a group have in common.
  mutating func replacingCalls(
    in expression: String, where takes: (AggregateSyntax.Call) -> Bool
  ) -> String? {
    let functions = resolver.locality.functions
    guard functions.callsAggregate(expression) else { return expression }
    guard let syntax = try? AggregateSyntax("SELECT \(expression)\nFROM rows", functions),
      syntax.calls.allSatisfy(takes)
    else { return nil }
    var names = syntax.calls.map { parameter(for: $0.sql) }[...]
    guard let expression = syntax.expression else { return names.first }
    var text = ""
    var end = expression.startIndex
    for token in SQLTokens.tokens(of: expression)
    where token.kind == .parameter && token.text == "?" {
      text += expression[end..<token.text.startIndex] + (names.popFirst() ?? "NULL")
      end = token.text.endIndex
    }
    return text + expression[end...]
  }

  /// The parameter for an aggregate of a source that is joined.
  mutating func parameter(for call: String) -> String {
    let index = calls.firstIndex(of: call) ?? calls.count
    if index == calls.count { calls.append(call) }
    return ":\(Self.name)\(index)"
  }

  /// Has the aggregates of a source follow its rows; returns whether that is possible.
  mutating func join(_ source: ResolvedSource, on conditions: [ArraySlice<SQLToken>]) -> Bool {
    guard let groups = groups(calls, of: source, where: conditions) else { return false }
    parts.append(
      OwnedSyntax.Part(
        parameters: calls.indices.map { Self.name + String($0) }, groups: groups))
    return true
  }

  // MARK: - Rows

  /// The rows of a source by the row that they refer to.
  ///
  /// - Parameters:
  ///   - values: what is made of them.
  ///   - source: of one table.
  ///   - conditions: what they fulfil.
  /// - Returns: nil where they do not refer to it by its key, or depend on more of what is around them.
  private mutating func groups(
    _ values: [String], of source: ResolvedSource, where conditions: [ArraySlice<SQLToken>]
  ) -> GroupSyntax? {
    let looksAround = { [select] (tokens: ArraySlice<SQLToken>) in
      ResolvedSelect.references(in: tokens).contains { name in
        !source.mayOwn(name) && select.sources.contains { $0.mayOwn(name) }
      }
    }
    var alone = source
    (alone.constraint, alone.isLeftJoined) = (.none, false)
    let inner = ResolvedSelect(syntax: SelectSyntax(columns: [], sources: []), sources: [alone])
    let around = conditions.filter(looksAround)
    guard around.count == 1,
      !values.contains(where: { looksAround(SQLTokens.tokens(of: $0)[...]) }),
      let (own, other) = around[0].equalColumns.first(where: { own, other in
        source.mayOwn(own) && !source.mayOwn(other)
      }), let column = inner.origin(of: own), let found = keyColumn(other),
      key == nil || key == found,
      comparison(of: column.name, in: inner.tables[0])
        == comparison(of: found, in: select.tables[owner])
    else { return nil }
    key = found
    let refers = "\(source.name.quotedIdentifier).\(own.name.quotedIdentifier)"
    let others = conditions.filter { !looksAround($0) }.map(\.sourceText.parenthesized)
    return GroupSyntax(
      terms: [refers], keyColumns: [0], columns: values.map(GroupSyntax.Column.value), having: nil,
      // NULL equals no NULL.
      from: DeclaredParts.select(
        [], from: inner.from(), conditions: others + ["\(refers) IS NOT NULL"], groupBy: [],
        having: nil))
  }

  /// A column of the owners' table, if each row has a value of its own there.
  private func keyColumn(_ name: ColumnName) -> String? {
    guard let origin = select.origin(of: name), origin.table == owner,
      isRowID(origin.name, of: select.tables[owner])
        || resolver.facts.isKey(origin.name, of: select.tables[owner].name)
    else { return nil }
    return origin.name
  }

  private func isRowID(_ column: String, of table: BaseTable) -> Bool {
    table.rowIDColumn?.isSameIdentifier(as: column) == true
  }

  /// How the values of a column compare, if those that are equal look the same.
  private func comparison(of column: String, in table: BaseTable) -> SchemaFacts.Comparison? {
    if isRowID(column, of: table) {
      return SchemaFacts.Comparison(collation: "BINARY", affinity: .integer)
    }
    guard resolver.facts.isExact(column, of: table) else { return nil }
    return resolver.facts.comparison(of: column.lowercased(), in: table.name)
  }

  /// The keys of owners by their rowids; nil: they are these.
  var keys: KeyedStatement? {
    let table = select.tables[owner]
    guard let key, !isRowID(key, of: table), let rowID = table.rowIDColumn else { return nil }
    return IncrementalAnalysis.keyed([rowID.quotedIdentifier]) { condition in
      "SELECT \(key.quotedIdentifier) FROM main.\(table.name.quotedIdentifier) WHERE \(condition)"
    }
  }
}

extension AggregateSyntax.Call {
  fileprivate var sql: String {
    "\(function.rawValue)(\(isDistinct ? "DISTINCT " : "")\(argument ?? "*"))"
  }
}
