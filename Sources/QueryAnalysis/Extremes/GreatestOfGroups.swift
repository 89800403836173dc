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
    let shown = syntax.shownOrOrderedBy
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
  ///
  /// - Parameter value: the value of a row, which no result column is named by: in ORDER BY a name is that of one first.
  /// - Returns: the SELECT of these rows, with the names of this one's columns.
  func rows(showing value: String) -> SelectSyntax {
    var copy = syntax
    copy.groupBy = []
    copy.columns = syntax.columns.map { column in
      guard column.expression.extremeOfRows != nil else { return column }
      let name = column.alias ?? column.text
      return ResultColumn("\(value) AS \(name.quotedIdentifier)")
    }
    copy.order = syntax.order.map { text in
      let term = OrderTerm(text)
      return term.expression.extremeOfRows == nil ? text : term.sql(of: value)
    }
    return copy
  }
}

/// What index SQLite has to read the rows of a group by, so that the first one of several with the greatest value is the
/// one with the least rowid: one of columns in which they are equal, if any, and then of the value alone.
struct IndexedTies {
  let table: String
  /// By which name the query knows the table.
  let source: String
  /// The columns in which the rows of a group are equal.
  let equal: Set<String>
  /// The one whose value is the greatest.
  let column: String

  /// Whether a query that does not sort rows to groups reads those of the table by such an index.
  func areRead(by sql: String, in db: Database) -> Bool {
    let steps = db.orderOfGroupedRows(in: sql) ?? []
    let indexes =
      (try? String.fetchAll(db, sql: "SELECT name FROM pragma_index_list(?)", arguments: [table]))
      ?? []
    let read = indexes.filter { index in
      let step = "\(source) USING INDEX \(index)"
      return steps.contains { $0 == step || $0.hasPrefix("\(step) (") }
    }
    return !read.isEmpty
      && read.allSatisfy { index in
        let columns = db.keyColumns(ofIndex: index)
        return columns.last?.isSameIdentifier(as: column) == true
          && columns.dropLast().allSatisfy { name in equal.contains(where: name.isSameIdentifier) }
      }
  }
}

extension GroupExtreme.Search {
  /// `SELECT room, max(id), text FROM message GROUP BY room`
  var extremeOfOwnGroups: GroupExtreme? {
    guard let greatest = GreatestOfGroups(syntax, resolver.locality.functions),
      let source = syntax.sources[0].name, let own = values(of: greatest),
      (own.groupBy + [own.column]).allSatisfy({ isExact($0, of: own) })
    else { return nil }
    let isKey = facts.tellsRowsApart(own.column, of: own.select.tables[0])
    guard let values = isKey ? own : anyRow(of: own) ?? firstRow(of: own, greatest.function) else {
      return nil
    }
    // WHERE is of the group, and the row is one of it.
    var rest = greatest.rows(showing: qualified(own.column, source))
    rest.predicate = nil
    return extreme(
      of: source, values, equal: [], same: values.groupBy, in: rest.withoutUnreadTables
    )
    .map(\.showingGroups)
  }

  private func values(of greatest: GreatestOfGroups) -> GroupExtreme.Values? {
    var alone = greatest.rows(showing: greatest.argument)
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

  /// The same of any row of several with the value: no more of it is shown than all of them have.
  private func anyRow(of values: GroupExtreme.Values) -> GroupExtreme.Values? {
    guard case .aggregate(let function) = values.choice, let key = key(of: values),
      let source = syntax.sources[0].name
    else { return nil }
    let isGreatest = function.lowercased() == "max"
    // NULL is the least for an order, and nothing for an aggregate.
    guard isGreatest || !isNullable(values.column, of: values.select) else { return nil }
    let common = Set(values.groupBy + [values.column])
    let areCommon = { (expression: String) in
      ResolvedSelect.references(in: SQLTokens.tokens(of: expression)[...]).allSatisfy { name in
        values.select.origin(of: name).map { common.contains($0.name) } == true
      }
    }
    let order = syntax.order.map(OrderTerm.init).filter { term in
      // The name of a result column comes first.
      !term.isNumber && !syntax.columns.contains { $0.isNamed(by: term.expression) }
    }
    guard syntax.columns.allSatisfy({ $0.kind == .expression && areCommon($0.expression) }),
      order.allSatisfy({ areCommon($0.expression) })
    else { return nil }
    var row = values
    row.choice = .first(
      [values.column, key].map { qualified($0, source) + (isGreatest ? " DESC" : "") })
    row.column = key
    return row
  }

  /// The same of the row that SQLite reads first of several with the value.
  private func firstRow(
    of values: GroupExtreme.Values, _ function: String
  ) -> GroupExtreme.Values? {
    guard let key = key(of: values), let source = syntax.sources[0].name,
      values.select.tables[0].rowIDColumn?.isSameIdentifier(as: key) == true,
      !isNullable(values.column, of: values.select)
    else { return nil }
    var row = values
    let direction = function.lowercased() == "max" ? " DESC" : ""
    row.choice = .first([qualified(values.column, source) + direction, qualified(key, source)])
    row.column = key
    row.ties = IndexedTies(
      table: values.table, source: source, equal: Set(values.groupBy), column: values.column)
    return row
  }

  /// The one column of the table's primary key, which is never NULL; nil: there is no such column.
  private func key(of values: GroupExtreme.Values) -> String? {
    guard let keys = try? facts.primaryKey(of: values.table).columns, keys.count == 1,
      facts.tellsRowsApart(keys[0], of: values.select.tables[0])
    else { return nil }
    return keys[0]
  }

  private func qualified(_ column: String, _ source: String) -> String {
    "\(source.quotedIdentifier).\(column.quotedIdentifier)"
  }
}
