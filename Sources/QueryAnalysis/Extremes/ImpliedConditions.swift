/// A SELECT with conditions that follow from its own.
///
/// A row whose key is the value that a subquery takes from a row of the same table is that row, and so fulfils what the
/// subquery asks of it:
///
///     room LEFT JOIN message AS m ON m.id = (SELECT max(o.id) FROM message AS o WHERE o.room = room.id)
///
/// tells that `m.room = room.id`, by which a changed row of `m` leads to rows of `room`. By its own condition it would not:
/// the subquery may come to something else without a change of the row.
struct ImpliedConditions {
  /// The SELECT with these conditions, which has the same rows.
  private(set) var select: ResolvedSelect
  /// The tables that are joined by nothing else that is certain, and so to more rows than they were.
  private(set) var tables: Set<Int> = []
  private let resolver: SourceResolver
  /// Names that mean something else in its subqueries, and not tables.
  private let others: [String]

  /// - Parameters:
  ///   - select: whose tables are looked at, and not those of its views.
  ///   - others: names that mean something else in its subqueries, and not tables.
  ///   - resolver: finds tables.
  init(_ select: ResolvedSelect, except others: [String], _ resolver: SourceResolver) {
    (self.select, self.resolver) = (select, resolver)
    self.others = others + select.syntax.commonTables.map(\.name)
    self.select.syntax.predicate = select.syntax.predicate.map { completed($0) }
    for (index, source) in select.sources.enumerated() {
      guard case .on(let condition) = source.constraint else { continue }
      self.select.sources[index].constraint = .on(completed(condition))
    }
  }

  private mutating func completed(_ condition: String) -> String {
    var all = [condition.parenthesized]
    for condition in condition.conditions {
      guard let (table, implied) = implications(of: condition), !implied.isEmpty else { continue }
      tables.insert(table)
      all += implied
    }
    return all.count == 1 ? condition : all.joined(separator: "\nAND ")
  }

  /// What follows from `m.id = (SELECT max(o.id) FROM message AS o WHERE …)`: the equalities in that WHERE, of `m`.
  private func implications(
    of condition: ArraySlice<SQLToken>
  ) -> (table: Int, conditions: [String])? {
    guard let (left, right) = condition.equalSides,
      let (own, other) = [(left, right), (right, left)].first(where: { own, other in
        own.columnName != nil && other.first?.isSymbol("(") == true
      }), let name = own.columnName, let (source, column) = column(name),
      let inner = try? SelectParser.parse(other.withoutParentheses.sourceText),
      let rows = rows(of: inner, where: column)
    else { return nil }
    let alias = select.sources[source].name.quotedIdentifier
    let conditions = inner.conditions.compactMap { condition -> String? in
      for (own, other) in condition.equalColumns {
        guard let origin = rows.origin(of: own), !rows.sources[0].mayOwn(other) else { continue }
        return "\(alias).\(origin.name.quotedIdentifier) = \(other.written)"
      }
      return nil
    }
    return (column.table, conditions)
  }

  /// The source that is a table and its column that a name means; nil: it is none, or not certain.
  private func column(_ name: ColumnName) -> (source: Int, column: BaseColumn)? {
    let owners = select.sources.indices.filter { select.sources[$0].mayOwn(name) }
    guard owners.count == 1, case .table = select.sources[owners[0]].body,
      let origin = select.origin(of: name)
    else { return nil }
    return (owners[0], origin)
  }

  /// The rows of the same table of which a subquery's value is a key; nil: it is not.
  private func rows(of inner: SelectSyntax, where key: BaseColumn) -> ResolvedSelect? {
    let table = select.tables[key.table].name
    var alone = inner
    alone.predicate = nil
    guard inner.groupBy.isEmpty, inner.columns.count == 1,
      resolver.facts.isKey(key.name, of: table),
      let (read, rows) = resolver.rows(of: alone, except: others),
      read.isSameIdentifier(as: table)
    else { return nil }
    let value = inner.columns[0].expression
    var column = SQLTokens.tokens(of: value.extremeOfRows?.argument ?? value)[...]
    // It keeps SQLite from an index, and changes no value.
    if column.first?.isSymbol("+") == true { column.removeFirst() }
    let origin = column.columnName.flatMap { rows.origin(of: $0) }
    return origin?.name.isSameIdentifier(as: key.name) == true ? rows : nil
  }
}
