import GRDB

extension GroupExtreme {
  /// Looks for such conditions where they may be written.
  struct Search {
    let syntax: SelectSyntax
    let resolver: SourceResolver
    var facts: SchemaFacts { resolver.facts }

    init(_ syntax: SelectSyntax, _ resolver: SourceResolver) {
      (self.syntax, self.resolver) = (syntax, resolver)
    }

    var all: [GroupExtreme] {
      GroupedList.all(in: syntax).compactMap(extreme(ofList:))
        + syntax.conditions.indices.compactMap { place in
          extreme(ofValue: place) ?? extreme(ofRivals: place) ?? extreme(ofNumber: place)
        }
        + syntax.sources.indices.compactMap { index in
          syntax.sources[index].isLeftJoined
            ? extreme(ofJoinedRivals: index) : extreme(ofSource: index)
        }
    }

    // MARK: - Where it may be written

    /// `(room, id) IN (SELECT room, max(id) FROM message GROUP BY room)`
    private func extreme(ofList list: GroupedList) -> GroupExtreme? {
      guard let inner = try? SelectParser.parse(list.select), let values = values(inner),
        let place = values.columns.firstIndex(of: nil),
        let row = row(named: list.operands[place], values.column, of: values.table)
      else { return nil }
      let equal = values.columns.compactMap(\.self)
      let others = zip(list.operands, values.columns).filter { $1 != nil }
      guard others.allSatisfy({ isColumn($0, $1 ?? "", of: row) }) else { return nil }
      return extreme(of: row, values, equal: equal, in: syntax.leavingOutCondition(list.place))
    }

    /// `id = (SELECT max(o.id) FROM message AS o WHERE o.room = message.room)`, or `id = (SELECT o.id … ORDER BY o.id
    /// DESC LIMIT 1)`
    private func extreme(ofValue place: Int) -> GroupExtreme? {
      guard let (left, right) = syntax.conditions[place].equalSides,
        let (own, other) = [(left, right), (right, left)].first(where: { own, other in
          own.columnName != nil && other.columnName == nil
        }), other.first?.isSymbol("(") == true,
        var inner = try? SelectParser.parse(other.withoutParentheses.sourceText),
        inner.groupBy.isEmpty, let (found, rest) = correlations(of: inner)
      else { return nil }
      // It is grouped by what equals the same of the row around it.
      inner.predicate = rest.isEmpty ? nil : rest.joinedByAnd
      inner.groupBy = found.map(\.column)
      guard let values = inner.limit == nil ? values(inner) : first(inner),
        values.columns == [nil],
        let row = row(named: own.sourceText, values.column, of: values.table),
        found.allSatisfy({ $0.row == row })
      else { return nil }
      return extreme(
        of: row, values, equal: found.filter { !$0.isSame }.map(\.column),
        same: found.filter(\.isSame).map(\.column), in: syntax.leavingOutCondition(place))
    }

    /// `NOT EXISTS (SELECT 1 FROM message AS o WHERE o.room = message.room AND o.id > message.id)`
    private func extreme(ofRivals place: Int) -> GroupExtreme? {
      let condition = syntax.conditions[place].withoutParentheses
      guard condition.count > 3, condition.first?.isWord("NOT") == true,
        condition.dropFirst().first?.isWord("EXISTS") == true,
        let inner = try? SelectParser.parse(
          condition.dropFirst(2).withoutParentheses.sourceText),
        inner.groupBy.isEmpty, inner.having == nil, inner.limit == nil,
        let (row, values, equal) = rivals(inner)
      else { return nil }
      return extreme(
        of: row, values, equal: [], same: equal, in: syntax.leavingOutCondition(place))
    }

    /// `LEFT JOIN message AS o ON o.room = message.room AND o.id > message.id WHERE o.id IS NULL`
    private func extreme(ofJoinedRivals index: Int) -> GroupExtreme? {
      let source = syntax.sources[index]
      guard let alias = source.name, case .on(let condition) = source.constraint else { return nil }
      var inner = SelectSyntax(columns: [], sources: [source])
      inner.sources[0].isLeftJoined = false
      inner.sources[0].constraint = .none
      inner.predicate = condition
      var (rest, _) = syntax.leavingOutSource(index)
      let isLack = { (condition: ArraySlice<SQLToken>) in
        guard let (left, right) = condition.sides(where: { $0.isWord("IS") }), right.count == 1,
          right.first?.isWord("NULL") == true, let name = left.columnName
        else { return false }
        return name.qualifier.map(alias.isSameIdentifier) == true
      }
      let lacks = syntax.conditions.filter(isLack)
      let others = syntax.conditions.filter { !isLack($0) }
      rest.predicate = others.isEmpty ? nil : others.joinedByAnd
      guard let (row, values, equal) = Search(rest, resolver).rivals(inner),
        lacks.contains(where: { lack in
          let name = lack.sides(where: { $0.isWord("IS") })?.left.columnName?.name ?? ""
          // What is compared is there where a row is.
          return !isNullable(name, of: values.select)
            || (equal + [values.column]).contains(name.lowercased())
        }),
        JoinedValues(alias: alias, names: facts.columns(of: values.table)).isUnread(in: rest)
      else { return nil }
      return Search(rest, resolver).extreme(of: row, values, equal: [], same: equal, in: rest)
    }

    /// `message JOIN (SELECT max(id) AS last FROM message GROUP BY room) AS s ON s.last = message.id`
    private func extreme(ofSource index: Int) -> GroupExtreme? {
      let source = syntax.sources[index]
      guard !source.isLeftJoined, syntax.sources.count > 1, let alias = source.name,
        index > 0 || !syntax.sources[1].isLeftJoined,
        let definition = syntax.definition(of: source, facts),
        let inner = try? SelectParser.parse(definition.sql),
        let values = values(inner),
        (values.groupBy + [values.column]).allSatisfy({ isExact($0, of: values) })
      else { return nil }
      let shown = JoinedValues(alias: alias, names: definition.names ?? inner.columns.map(\.name))
      let (rest, conditions) = syntax.leavingOutSource(index)
      let search = Search(rest, resolver)
      var rows: Set<String> = []
      var equal: [String?] = []
      let others = conditions.filter { condition in
        for (own, other) in condition.equalColumns {
          guard let number = shown.number(of: own) else { continue }
          let column = values.columns[number]
          guard
            let row = search.row(named: other.written, column ?? values.column, of: values.table)
          else { continue }
          rows.insert(row)
          equal.append(column)
          return false
        }
        return true
      }
      guard let row = rows.first, rows.count == 1, equal.contains(nil) else { return nil }
      var joined = rest
      joined.predicate = others.isEmpty ? nil : others.joinedByAnd
      let columns = values.columns.map { ColumnName(qualifier: row, name: $0 ?? values.column) }
      return shown.replaced(in: joined, by: columns).flatMap {
        extreme(of: row, values, equal: equal.compactMap(\.self), in: $0.withoutUnreadTables)
      }
    }

    // MARK: - Parts

    /// Those of a source whose rows are compared: `equal` is what is grouped by, as far as it must equal what the row
    /// has; `same`, where NULL is NULL.
    func extreme(
      of row: String, _ values: Values, equal: [String], same: [String] = [],
      in rest: SelectSyntax
    ) -> GroupExtreme? {
      let isKey = facts.isKey(values.column, of: values.table)
      let isOfOneGroup = values.groupBy.allSatisfy { column in
        (equal + same).contains(column)
      }
      guard isKey || isOfOneGroup, let predicate = predicate(of: values, named: row) else {
        return nil
      }
      // NULL equals nothing.
      let present = equal.filter { isNullable($0, of: values.select) }.map {
        "\(row.quotedIdentifier).\($0.quotedIdentifier) IS NOT NULL"
      }
      var copy = rest
      let conditions = [rest.predicate?.parenthesized].compactMap(\.self) + present
      copy.predicate = conditions.isEmpty ? nil : conditions.joined(separator: "\nAND ")
      return GroupExtreme(
        rest: copy, table: values.table, source: row, groupBy: values.groupBy,
        choice: choice(of: values, named: row), column: values.column,
        predicate: predicate.isEmpty ? nil : predicate, isKey: isKey,
        completion: values.completion, ties: values.ties)
    }

    /// WHERE of the SELECT that makes values, where its table has another name; empty: there is none; nil: it looks at
    /// something else.
    private func predicate(of values: Values, named row: String) -> String? {
      guard let predicate = values.select.syntax.predicate else { return "" }
      guard Subquery.all(in: predicate).isEmpty else { return nil }
      var isCertain = true
      let text = predicate.replacingNames { name, token in
        if let origin = values.select.origin(of: name) {
          return "\(row.quotedIdentifier).\(origin.name.quotedIdentifier)"
        }
        isCertain = isCertain && name.qualifier == nil && token.isOperator
        return nil
      }
      return isCertain ? text : nil
    }

    private func choice(of values: Values, named row: String) -> Choice {
      guard case .first(let terms) = values.choice else { return values.choice }
      return .first(
        terms.map { term in
          term.replacingNames { name, _ in
            values.select.origin(of: name).map {
              "\(row.quotedIdentifier).\($0.name.quotedIdentifier)"
            }
          }
        })
    }

    /// Whether the one table of a SELECT may have NULL in a column.
    func isNullable(_ column: String, of select: ResolvedSelect) -> Bool {
      facts.isNullable(column, of: select.tables[0])
    }

    /// What an aggregate makes of each group of a table's rows.
    private func values(_ inner: SelectSyntax) -> Values? {
      guard inner.limit == nil, !inner.groupBy.isEmpty, let (table, select) = rows(of: inner),
        let groupBy = select.groupTerms.map({ select.origin(of: $0)?.name }) as? [String],
        let items = select.expandedColumns
      else { return nil }
      var values: [(function: String, column: String)] = []
      var columns: [String?] = []
      for item in items {
        if let (function, argument) = item.expression.extremeOfRows {
          guard let origin = select.origin(of: argument) else { return nil }
          values.append((function, origin.name))
          columns.append(nil)
        } else {
          guard let origin = select.origin(of: item.expression), groupBy.contains(origin.name)
          else { return nil }
          columns.append(origin.name)
        }
      }
      guard values.count == 1 else { return nil }
      return Values(
        table: table, columns: columns, groupBy: groupBy, choice: .aggregate(values[0].function),
        column: values[0].column, select: select)
    }

    /// What the first row of each group has, in an order that leaves nothing open.
    private func first(_ inner: SelectSyntax) -> Values? {
      guard inner.limit == LimitSyntax(limit: "1", offset: nil), inner.columns.count == 1,
        let (table, select) = rows(of: inner),
        let origin = select.origin(of: inner.columns[0].expression),
        facts.isKey(origin.name, of: table)
      else { return nil }
      let order = inner.order.map(OrderTerm.init)
      let columns = order.map { term in
        let name = select.origin(of: term.expression)?.name
        // The result column's name comes first.
        return inner.columns[0].isNamed(by: term.expression) && name != origin.name ? nil : name
      }
      // Under another collation two keys may be equal.
      guard !columns.contains(nil),
        zip(order, columns).contains(where: { $0.collation == nil && $1 == origin.name })
      else { return nil }
      return Values(
        table: table, columns: [nil], groupBy: inner.groupBy, choice: .first(inner.order),
        column: origin.name, select: select)
    }

    /// The rows of a table beside which another is no record: those with a greater value, or a smaller one, that have the
    /// same otherwise.
    private func rivals(
      _ inner: SelectSyntax
    ) -> (row: String, values: Values, equal: [String])? {
      guard let (table, select) = rows(of: inner), let (found, rest) = correlations(of: inner),
        !inner.columns.contains(where: {
          resolver.locality.functions.callsAggregate($0.expression)
        }),
        rest.count == 1, let (left, sign, right) = rest[0].withoutParentheses.comparison,
        sign == ">" || sign == "<", let first = left.columnName, let second = right.columnName,
        let row = found.first?.row, found.allSatisfy({ $0.row == row })
      else { return nil }
      let isFirst = select.origin(of: first) != nil
      let (own, other) = isFirst ? (first, second) : (second, first)
      guard let origin = select.origin(of: own), other.qualifier != nil,
        isColumn(other.written, origin.name, of: row)
      else { return nil }
      let values = Values(
        table: table, columns: [nil], groupBy: found.map(\.column),
        choice: .aggregate(isFirst == (sign == ">") ? "max" : "min"), column: origin.name,
        select: select.alone(table: 0))
      // Where one is NULL there are no rivals, and it is no greatest value.
      let isPresent = (values.groupBy + [values.column]).allSatisfy {
        !isNullable($0, of: values.select)
      }
      return isPresent ? (row, values, values.groupBy) : nil
    }

    func rows(of inner: SelectSyntax) -> (table: String, select: ResolvedSelect)? {
      resolver.rows(of: inner, except: syntax.commonTables.map(\.name))
    }

    /// Whether equal values of a column look the same, and are compared under BINARY.
    func isExact(_ column: String, of values: Values) -> Bool {
      facts.isExact(column, of: values.select.tables[0])
    }

    /// What a subquery's rows have in common with the row around it, and its other conditions.
    private func correlations(
      of inner: SelectSyntax
    ) -> (found: [Correlation], rest: [ArraySlice<SQLToken>])? {
      var alone = inner
      alone.predicate = nil
      guard inner.sources.count == 1, let select = try? resolver.resolve(readBy: alone),
        select.tables.count == 1
      else { return nil }
      let all = inner.conditions.map { ($0, correlation($0, select)) }
      return (all.compactMap(\.1), all.filter { $1 == nil }.map(\.0))
    }

    private func isTable(_ name: String) -> Bool {
      !syntax.commonTables.contains { $0.name.isSameIdentifier(as: name) }
        && (try? facts.isTable(name)) == true
    }

    /// The source of a table whose column a name is.
    private func row(named name: String, _ column: String, of table: String) -> String? {
      syntax.sources.first { source in
        guard case .table(_, let own) = source.origin, let alias = source.name,
          !source.isLeftJoined, isTable(own), own.isSameIdentifier(as: table)
        else { return false }
        return isColumn(name, column, of: alias)
      }?.name
    }

    /// A name without that of its source is of one source only, or SQLite would not take it.
    private func isColumn(_ text: String, _ column: String, of row: String) -> Bool {
      guard let name = SQLTokens.tokens(of: text).columnName else { return false }
      return name.name.isSameIdentifier(as: column)
        && name.qualifier.map(row.isSameIdentifier) != false
    }

    /// `o.room = message.room`
    private func correlation(
      _ condition: ArraySlice<SQLToken>, _ inner: ResolvedSelect
    ) -> Correlation? {
      let isSame = condition.equalSides == nil
      guard let (left, right) = condition.equalSides ?? condition.sides(where: { $0.isWord("IS") }),
        let first = left.columnName, let second = right.columnName
      else { return nil }
      for (own, other) in [(first, second), (second, first)] {
        guard let origin = inner.origin(of: own),
          !inner.sources.contains(where: { $0.mayOwn(other) }),
          let row = row(named: other.written, origin.name, of: inner.tables[origin.table].name)
        else { continue }
        return Correlation(column: origin.name, row: row, isSame: isSame)
      }
      return nil
    }
  }

  /// What is made of the groups of a table's rows.
  struct Values {
    let table: String
    /// What each result column is: a column that is grouped by, or nil for the value.
    let columns: [String?]
    let groupBy: [String]
    var choice: Choice
    var column: String
    let select: ResolvedSelect
    var completion: Completion?
    var ties: IndexedTies?
  }

  /// A column of a subquery's table that equals the same of a row around it.
  private struct Correlation {
    let column: String
    let row: String
    /// Whether NULL is NULL.
    let isSame: Bool
  }
}
