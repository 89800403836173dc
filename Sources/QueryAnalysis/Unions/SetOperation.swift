import GRDB

/// EXCEPT or INTERSECT of two SELECTs, as one of those records of the first that the other has not, or has:
///
///     SELECT id FROM product EXCEPT SELECT product FROM line
///
/// has the records of
///
///     SELECT DISTINCT id FROM product
///     WHERE NOT EXISTS (SELECT 1 FROM (SELECT product AS value FROM line) AS other WHERE other.value IS product.id)
///
/// where values are equal for IS just when they are for the operator, which applies no affinity:
/// https://www.sqlite.org/lang_select.html#compound_select_statements
struct SetOperation {
  /// The other SELECT, with the order and the limit of the whole.
  let syntax: SelectSyntax

  private static let otherName = "didchange other"

  /// Takes a statement apart whose columns have these names; nil: it is another, or compares more than columns of one type
  /// under BINARY.
  init?(_ sql: String, names: [String], _ resolver: SourceResolver) {
    let tokens = SelectParser.tokens(of: sql)
    let operators = tokens.compoundOperators
    guard operators.count == 1, !tokens[operators[0]].isWord("UNION"),
      var arms = try? SelectParser.parseParts(sql), arms.count == 2
    else { return nil }
    // Those of the whole stand behind the last one.
    let (order, limit) = (arms[1].order, arms[1].limit)
    (arms[1].order, arms[1].limit) = ([], nil)
    let arePlain = arms.allSatisfy { arm in
      arm.groupBy.isEmpty && arm.having == nil && arm.windows.isEmpty && arm.joinsByConditions
    }
    guard arePlain, let own = try? resolver.resolve(readBy: arms[0]),
      let other = try? resolver.resolve(readBy: arms[1]),
      let columns = own.expandedColumns, let others = other.expandedColumns,
      columns.count == names.count, others.count == names.count,
      zip(columns, others).allSatisfy({ column, equal in
        let comparison = Self.comparison(of: column, in: own, resolver.facts)
        return comparison != nil
          && comparison == Self.comparison(of: equal, in: other, resolver.facts)
      }), let positions = Self.positions(ofOrder: order, own, columns)
    else { return nil }
    let last = tokens[(operators[0] + 1)..<tokens.endOfRows(from: operators[0] + 1)]
    guard
      let equal = Self.rows(
        of: last, showing: others, equalTo: columns.map { Self.qualified($0, in: own) })
    else { return nil }
    let word = tokens[operators[0]].isWord("EXCEPT") ? "NOT EXISTS" : "EXISTS"
    var syntax = arms[0]
    syntax.isDistinct = true
    syntax.predicate =
      ([syntax.predicate?.parenthesized].compactMap(\.self) + ["\(word) \(equal.parenthesized)"])
      .joined(separator: "\nAND ")
    syntax.order = zip(order, positions).map { OrderTerm($0).sql(ordinal: $1 + 1) }
    syntax.limit = limit
    self.syntax = syntax.withoutUnreadTables
  }

  /// `SELECT 1 FROM (SELECT product AS value FROM line) AS other WHERE other.value IS product.id`: the rows of a SELECT that are equal to
  /// one around them.
  private static func rows(
    of select: ArraySlice<SQLToken>, showing own: [ResultColumn], equalTo columns: [String]
  ) -> String? {
    guard let from = SelectClauses(select)[.from] else { return nil }
    let names = columns.indices.map { "didchange value \($0)".quotedIdentifier }
    let shown = zip(own, names).map { "\($0.expression) AS \($1)" }.joined(separator: ", ")
    let rows = "SELECT \(shown) \(select[(from.startIndex - 1)...].sourceText)"
    return DeclaredParts.select(
      ["1"], from: "\(rows.parenthesized) AS \(otherName.quotedIdentifier)",
      conditions: zip(columns, names).map { column, name in
        "\(otherName.quotedIdentifier).\(name) IS \(column)"
      }, groupBy: [], having: nil)
  }

  /// A column with the name of its source: that of a rowid is a column of whatever is in FROM.
  private static func qualified(_ column: ResultColumn, in select: ResolvedSelect) -> String {
    guard let name = SQLTokens.tokens(of: column.expression).columnName,
      let source = select.sources.first(where: { $0.mayOwn(name) })
    else { return column.expression.parenthesized }
    return ColumnName(qualifier: source.name, name: name.name).written
  }

  /// How the values of a column compare, where it is one of a table's and that under BINARY; nil: it is another.
  private static func comparison(
    of column: ResultColumn, in select: ResolvedSelect, _ facts: SchemaFacts
  ) -> SchemaFacts.Comparison? {
    guard let origin = select.origin(of: column.expression) else { return nil }
    let table = select.tables[origin.table]
    guard facts.isExact(origin.name, of: table) else { return nil }
    return facts.comparison(of: origin.name.lowercased(), in: table.name)
  }

  /// The columns that the terms of ORDER BY mean, as for UNION; nil: one is not certain.
  private static func positions(
    ofOrder order: [String], _ select: ResolvedSelect, _ columns: [ResultColumn]
  ) -> [Int]? {
    let found = order.map { text -> Int? in
      let term = OrderTerm(text)
      if let number = Int(term.expression) { return number - 1 }
      if let place = columns.firstIndex(where: { $0.isNamed(by: term.expression) }) { return place }
      guard let origin = select.origin(of: term.expression) else { return nil }
      return columns.firstIndex { select.origin(of: $0.expression) == origin }
    }
    return found as? [Int]
  }
}
