import Algorithms

/// `a FULL JOIN b` as two SELECTs whose rows it has: those of `a LEFT JOIN b`, and those of b for which
/// there is no row of a.
enum FullJoin {
  /// The two SELECTs, both with the ORDER BY and the LIMIT of the whole; nil: there is no such join.
  ///
  /// - Throws: ``NotIncremental`` where it is not one of two tables with rowids.
  static func compound(
    of syntax: SelectSyntax, _ facts: SchemaFacts
  ) throws -> CompoundSelect? {
    guard syntax.sources.contains(where: \.isFullJoined) else { return nil }
    guard syntax.sources.count == 2, let rowID = try rowID(of: syntax.sources[0], syntax, facts),
      let otherRowID = try self.rowID(of: syntax.sources[1], syntax, facts)
    else {
      throw NotIncremental(reason: "it has a FULL JOIN of something else than tables with rowids")
    }
    if syntax.sources.contains(where: {
      isCompared(columnOf: $0, by: syntax.sources[1], under: "RTRIM", facts)
    }) {
      throw NotIncremental(
        reason:
          "it has a FULL JOIN by a column under RTRIM, by which SQLite may miss rows of a LEFT JOIN"
      )
    }
    var (first, second) = (syntax, syntax)
    first.sources[1].isFullJoined = false
    first.sources[1].isLeftJoined = true
    // As `a RIGHT JOIN b` is written.
    var (left, right) = (syntax.sources[0], syntax.sources[1])
    left.constraint = right.constraint
    (left.isLeftJoined, left.isWrittenFirst) = (true, true)
    (right.constraint, right.isFullJoined) = (.none, false)
    second.sources = [right, left]
    let turned: [SelectSyntax]? =
      if case .on = syntax.sources[1].constraint {
        [second, first.whereMissing(otherRowID)]
      } else {
        // USING shows the column of the first table, which may equal the other's and look different.
        nil
      }
    return CompoundSelect(
      arms: [first, second.whereMissing(rowID)], kind: .fullJoin, texts: [], turned: turned)
  }

  /// Whether a table's column of a collation is compared to join another.
  ///
  /// By an index that it makes for itself, SQLite 3.40 finds no 'a ' for 'a' under RTRIM.
  private static func isCompared(
    columnOf source: SourceSyntax, by joined: SourceSyntax, under collation: String,
    _ facts: SchemaFacts
  ) -> Bool {
    guard case .table(_, let name) = source.origin else { return false }
    let columns = facts.collations(of: name).filter { $0.value.uppercased() == collation }.keys
    let isCompared = { (column: String) in
      switch joined.constraint {
      case .on(let condition):
        SQLTokens.tokens(of: condition).contains { $0.name?.isSameIdentifier(as: column) == true }
      case .using(let names): names.contains(where: column.isSameIdentifier)
      case .none: joined.isNatural
      }
    }
    return columns.contains(where: isCompared)
  }

  /// The rowid of a table, which is NULL only where there is no row; nil: it is no table with rowids.
  private static func rowID(
    of source: SourceSyntax, _ syntax: SelectSyntax, _ facts: SchemaFacts
  ) throws -> String? {
    guard case .table(let schema, let name) = source.origin,
      schema != nil || !syntax.commonTables.contains(where: { $0.name.isSameIdentifier(as: name) }),
      try facts.isTable(name), let column = facts.rowIDExpression(of: name)
    else { return nil }
    return "\((source.alias ?? name).quotedIdentifier).\(column.quotedIdentifier)"
  }

  // MARK: - Order

  /// What ORDER BY has that is no column of the result.
  static func hiddenOrder(of select: SelectSyntax, _ list: SelectList) -> [String] {
    let hidden = select.order.map(OrderTerm.init).filter {
      column(ofOrder: $0, of: select, list) == nil
    }
    return Array(hidden.map(\.expression.withoutTextInQuotationMarks).uniqued())
  }

  /// The column of the result that a term of ORDER BY names by its number, its name, or what it shows.
  static func column(
    ofOrder term: OrderTerm, of select: SelectSyntax, _ list: SelectList
  ) -> Int? {
    if let position = list.position(ofOrder: term) { return position }
    let columns = select.columns
    guard columns.count == list.visible.count, columns.allSatisfy({ $0.kind == .expression }) else {
      return nil
    }
    let words = SQLTokens.tokens(of: term.expression)[...].withoutParentheses.map(\.folded)
    return columns.firstIndex { SQLTokens.tokens(of: $0.expression).map(\.folded) == words }
  }
}

extension SelectSyntax {
  /// Its rows for which there is none of the table with this rowid.
  fileprivate func whereMissing(_ rowID: String) -> SelectSyntax {
    var select = self
    select.predicate = [predicate?.parenthesized, "\(rowID) IS NULL"].compactMap(\.self)
      .joined(separator: " AND ")
    return select
  }
}
