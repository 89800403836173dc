/// A source of FROM that numbers the rows of a table within their group:
///
///     SELECT *, row_number() OVER (PARTITION BY room ORDER BY at DESC, id DESC) AS n FROM message
///
/// Those with the number 1 are the first of their groups.
struct NumberedRows {
  /// The name of the number.
  let number: String
  /// The SELECT without it.
  let rows: SelectSyntax
  let window: WindowDefinition
  /// What it is written as, between its parentheses.
  private let body: ArraySlice<SQLToken>
  /// Where the number stands among the columns.
  private let place: Int

  /// - Returns: nil where it is another SELECT.
  init?(_ sql: String) {
    guard var inner = try? SelectParser.parse(sql), inner.limit == nil, inner.order.isEmpty,
      inner.groupBy.isEmpty, inner.sources.count == 1
    else { return nil }
    let isOverWindow = { (column: ResultColumn) in
      SQLTokens.tokens(of: column.text).contains { $0.isWord("OVER") }
    }
    let named = NamedWindows(inner.windows)
    guard let place = inner.columns.firstIndex(where: isOverWindow),
      let number = inner.columns[place].alias,
      let reference = Self.window(ofNumber: inner.columns[place].expression),
      let body = named.body(of: reference), let window = try? named.definition(of: reference)
    else { return nil }
    inner.columns.remove(at: place)
    inner.windows = []
    let areColumns = inner.columns.allSatisfy { column in
      guard column.kind == .expression else { return true }
      guard let name = SQLTokens.tokens(of: column.expression).columnName else { return false }
      return column.alias.map(name.name.isSameIdentifier) != false
    }
    guard areColumns else { return nil }
    (self.number, self.window, self.body) = (number, window, body)
    (self.place, rows) = (place, inner)
  }

  /// `row_number() OVER …`
  private static func window(ofNumber expression: String) -> WindowReference? {
    var tokens = SQLTokens.tokens(of: expression)[...]
    guard tokens.take("row_number"), tokens.takeParentheses()?.isEmpty == true, tokens.take("OVER")
    else { return nil }
    if tokens.count == 1 { return tokens.first?.name.map(WindowReference.name) }
    guard let body = tokens.takeParentheses(), tokens.isEmpty else { return nil }
    return .body(body)
  }

  /// The same with a column at the end of the window's ORDER BY, so that no two rows are equal: each of its results is one
  /// that SQL allows of what was written.
  func completed(by column: String) -> (terms: [String], text: GroupExtreme.Completion)? {
    guard let source = rows.sources[0].name else { return nil }
    let name = "\(source.quotedIdentifier).\(column.quotedIdentifier)"
    guard let text = window.adding([name], toOrderIn: body) else { return nil }
    let direction = window.order.last?.isDescending == true ? " DESC" : ""
    return (
      window.order.map(\.text) + [name + direction],
      GroupExtreme.Completion(window: body.sourceText, completed: text, column: column)
    )
  }

  /// A SELECT from the table itself in the place of a source that numbers its rows, where the number is 1.
  ///
  /// - Parameters:
  ///   - syntax: the SELECT, whose WHERE does not say that any more.
  ///   - index: which source.
  ///   - select: ``rows``, as it is known.
  ///   - columns: those of the table.
  /// - Returns: nil where it makes more of the number than to show it, or may know columns that the source does not show.
  func replaced(
    in syntax: SelectSyntax, at index: Int, by select: ResolvedSelect, columns: [String]
  ) -> SelectSyntax? {
    guard let alias = syntax.sources[index].name,
      let before = countOfColumns(before: place, of: select), let all = select.expandedColumns,
      !columns.contains(where: number.isSameIdentifier)
    else { return nil }
    let shown = all.compactMap(\.name)
    // What tells its rows apart is asked of the source: `rowid` would be NULL there.
    guard
      select.tables[0].identityNames.allSatisfy({ shown.contains(where: $0.isSameIdentifier) })
    else { return nil }
    let unseen = columns.filter { !shown.contains(where: $0.isSameIdentifier) } + [number]
    let looks = { (text: String) in
      SQLTokens.tokens(of: text).contains { token in
        token.name.map { name in unseen.contains(where: name.isSameIdentifier) } == true
      }
    }
    let one = ResultColumn("1 AS \(number.quotedIdentifier)")
    var row = shown.map { ResultColumn("\(alias.quotedIdentifier).\($0.quotedIdentifier)") }
    row.insert(one, at: before)
    var copy = syntax
    copy.columns = []
    for column in syntax.columns {
      switch column.kind {
      case .all where syntax.sources.count == 1: copy.columns += row
      case .all: return nil
      case .allOf(let name): copy.columns += alias.isSameIdentifier(as: name) ? row : [column]
      case .expression:
        let name = SQLTokens.tokens(of: column.expression).columnName
        if let name, name.name.isSameIdentifier(as: number), column.alias == nil,
          name.qualifier.map(alias.isSameIdentifier) != false
        {
          copy.columns.append(one)
        } else if looks(column.text) {
          return nil
        } else {
          copy.columns.append(column)
        }
      }
    }
    let others = syntax.expressions.dropFirst(syntax.columns.count)
    if others.contains(where: looks) { return nil }
    copy.sources[index] = SourceSyntax(
      origin: .table(schema: "main", name: select.tables[0].name), alias: alias,
      constraint: syntax.sources[index].constraint)
    return copy
  }

  /// How many columns the first ones written are.
  private func countOfColumns(before place: Int, of select: ResolvedSelect) -> Int? {
    var first = rows
    first.columns.removeSubrange(place...)
    return ResolvedSelect(syntax: first, sources: select.sources).expandedColumns?.count
  }
}

extension GroupExtreme.Search {
  /// `FROM (SELECT *, row_number() OVER (PARTITION BY room ORDER BY id DESC) AS n FROM message) AS m WHERE n = 1`
  func extreme(ofNumber place: Int) -> GroupExtreme? {
    guard let (column, value) = syntax.conditions[place].columnOfOneValue, value.kind == .number,
      value.text == "1", let name = column.columnName
    else { return nil }
    for (index, source) in syntax.sources.enumerated() {
      guard !source.isLeftJoined, let alias = source.name,
        name.qualifier.map(alias.isSameIdentifier) != false,
        let definition = syntax.definition(of: source, facts), definition.names == nil,
        let numbered = NumberedRows(definition.sql),
        numbered.number.isSameIdentifier(as: name.name)
      else { continue }
      guard let values = first(of: numbered),
        let rest = numbered.replaced(
          in: syntax.leavingOutCondition(place), at: index, by: values.select,
          columns: facts.columns(of: values.table))
      else { return nil }
      return extreme(
        of: alias, values, equal: [], same: values.groupBy, in: rest.withoutUnreadTables)
    }
    return nil
  }

  /// The first row of each group.
  private func first(of numbered: NumberedRows) -> GroupExtreme.Values? {
    guard let (table, select) = rows(of: numbered.rows) else { return nil }
    let groups = numbered.window.partition.map { select.origin(of: $0)?.name }
    let columns = numbered.window.order.map { select.origin(of: $0.expression)?.name }
    guard !groups.isEmpty, let groupBy = groups as? [String], !columns.contains(nil),
      let keys = try? facts.primaryKey(of: table).columns, keys.count == 1,
      // A key that is NULL equals nothing.
      facts.tellsRowsApart(keys[0], of: select.tables[0])
    else { return nil }
    let isTotal = zip(numbered.window.order, columns).contains { term, column in
      term.collation == nil && column?.isSameIdentifier(as: keys[0]) == true
    }
    let completed = isTotal ? nil : numbered.completed(by: keys[0])
    if !isTotal, completed == nil { return nil }
    return GroupExtreme.Values(
      table: table, columns: [nil], groupBy: groupBy,
      choice: .first(completed?.terms ?? numbered.window.order.map(\.text)), column: keys[0],
      select: select, completion: completed?.text)
  }
}
