import GRDB

/// A SELECT that shows of each group the greatest value, or the least, and nothing but what the row with it has:
///
///     SELECT room, max(id), text FROM message GROUP BY room
///
/// Beside the only `max` or `min` a column has the value of that row: https://www.sqlite.org/lang_select.html#bareagg
struct GreatestOfGroups {
  let function: String
  /// What it is called with.
  let argument: String
  private let syntax: SelectSyntax

  /// - Returns: nil where it calls no aggregate, or another one, or may show more than a row.
  init?(_ syntax: SelectSyntax, _ functions: FunctionList) {
    guard !syntax.groupBy.isEmpty, syntax.having == nil, !syntax.isDistinct, syntax.windows.isEmpty
    else { return nil }
    let shown = syntax.columns.map(\.expression) + syntax.order.map { OrderTerm($0).expression }
    let found = shown.compactMap(\.extremeOfRows)
    let others = shown.filter { $0.extremeOfRows == nil }
    guard let first = found.first,
      found.allSatisfy({ $0.function.isSameIdentifier(as: first.function) }),
      Set(found.map(\.argument)).count == 1,
      !others.contains(where: { expression in
        functions.callsAggregate(expression) || !Subquery.all(in: expression).isEmpty
          || SQLTokens.tokens(of: expression)[...].callsWindowFunction
      })
    else { return nil }
    (function, argument, self.syntax) = (first.function, first.argument, syntax)
  }

  /// Its rows, each of which shows the value that it has itself.
  var rows: SelectSyntax {
    var copy = syntax
    copy.groupBy = []
    copy.columns = syntax.columns.map { column in
      guard column.expression.extremeOfRows != nil else { return column }
      let name = column.alias ?? column.text
      return ResultColumn("\(argument) AS \(name.quotedIdentifier)")
    }
    copy.order = syntax.order.map { text in
      let term = OrderTerm(text)
      return term.expression.extremeOfRows == nil ? text : term.sql(of: argument)
    }
    return copy
  }

  /// What it shows and orders by, apart from the value.
  var others: [String] {
    (syntax.columns.map(\.expression) + syntax.order.map { OrderTerm($0).expression })
      .filter { $0.extremeOfRows == nil }
  }
}

/// What index SQLite has to read the rows of a group by, so that the first one of several with the greatest value is the
/// one with the least rowid.
struct IndexedTies {
  /// The columns in which the rows of a group are equal: the first ones of the index, in any order.
  let equal: Set<String>
  /// The last one of the index, whose value is the greatest.
  let column: String

  /// Whether a query that does not sort rows to groups reads those of a table, by the name that it has there, by such an
  /// index.
  func areRead(by sql: String, as source: String, in db: Database) -> Bool {
    let steps = db.orderOfGroupedRows(in: sql) ?? []
    let prefix = "\(source) USING INDEX "
    guard let step = steps.first(where: { $0.hasPrefix(prefix) }) else { return false }
    let index = step.dropFirst(prefix.count).prefix { $0 != " " }
    let columns = db.keyColumns(ofIndex: String(index))
    return columns.last?.isSameIdentifier(as: column) == true
      && columns.dropLast().allSatisfy { name in equal.contains(where: name.isSameIdentifier) }
  }
}

extension GroupExtreme.Search {
  /// `SELECT room, max(id), text FROM message GROUP BY room`
  var extremeOfOwnGroups: GroupExtreme? {
    guard let greatest = GreatestOfGroups(syntax, resolver.locality.functions),
      let source = syntax.sources[0].name,
      var values = values(of: greatest)
    else { return nil }
    guard (values.groupBy + [values.column]).allSatisfy({ isExact($0, of: values) }) else {
      return nil
    }
    if !facts.isKey(values.column, of: values.table)
      || isNullable(values.column, of: values.select)
    {
      guard let first = first(of: greatest, values) else { return nil }
      values = first
    }
    // WHERE is of the group, and the row is one of it.
    var rest = greatest.rows
    rest.predicate = nil
    return extreme(
      of: source, values, equal: [], same: values.groupBy, in: rest.withoutUnreadTables
    )
    .map(\.showingGroups)
  }

  private func values(of greatest: GreatestOfGroups) -> GroupExtreme.Values? {
    var alone = greatest.rows
    (alone.order, alone.limit) = ([], nil)
    var grouped = alone
    (grouped.columns, grouped.groupBy) = (syntax.columns, syntax.groupBy)
    guard let (table, select) = rows(of: alone),
      let origin = select.origin(of: greatest.argument)
    else { return nil }
    let groups = ResolvedSelect(syntax: grouped, sources: select.sources).groupTerms
    guard let groupBy = groups.map({ select.origin(of: $0)?.name }) as? [String] else { return nil }
    return GroupExtreme.Values(
      table: table, columns: [nil], groupBy: groupBy, choice: .aggregate(greatest.function),
      column: origin.name, select: select)
  }

  /// The same where several rows of a group may have the value. Any one will do where no more of it is shown than all of
  /// them have; else it is the first that SQLite reads.
  private func first(
    of greatest: GreatestOfGroups, _ values: GroupExtreme.Values
  ) -> GroupExtreme.Values? {
    let isGreatest = greatest.function.lowercased() == "max"
    let aliases = syntax.columns.filter { $0.expression.extremeOfRows != nil }
    let common = Set(values.groupBy + [values.column])
    let areCommon =
      greatest.others.allSatisfy { text in
        if aliases.contains(where: { $0.isNamed(by: text) }) || Int(text) != nil { return true }
        return ResolvedSelect.references(in: SQLTokens.tokens(of: text)[...]).allSatisfy { name in
          values.select.origin(of: name).map { common.contains($0.name) } == true
        }
      }
      && !syntax.columns.contains { $0.kind != .expression }
    let mayBeNull = isNullable(values.column, of: values.select)
    // NULL is the least for an order, and nothing for an aggregate.
    guard areCommon ? isGreatest || !mayBeNull : !mayBeNull,
      let keys = try? facts.primaryKey(of: values.table).columns, keys.count == 1,
      facts.isKey(keys[0], of: values.table), !isNullable(keys[0], of: values.select),
      let source = syntax.sources[0].name
    else { return nil }
    let isRowID = values.select.tables[0].rowIDColumn?.isSameIdentifier(as: keys[0]) == true
    if !areCommon, !isRowID { return nil }
    let names = [values.column, keys[0]].map {
      "\(source.quotedIdentifier).\($0.quotedIdentifier)"
    }
    let terms = [
      names[0] + (isGreatest ? " DESC" : ""), names[1] + (isGreatest && areCommon ? " DESC" : ""),
    ]
    var first = GroupExtreme.Values(
      table: values.table, columns: [nil], groupBy: values.groupBy, choice: .first(terms),
      column: keys[0], select: values.select)
    if !areCommon { first.ties = IndexedTies(equal: Set(values.groupBy), column: values.column) }
    return first
  }
}
