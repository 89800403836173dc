/// A condition `column = :parameter` that every row of a result fulfils.
///
/// With it the controllers whose result a row may be in are found by the row's value, instead of by
/// asking each of them.
struct EqualityRoute: Sendable, Equatable {
  /// The name of the parameter, without its sigil.
  let parameter: String
  /// Reads the value of the row whose rowid is its only parameter.
  let sql: String

  /// Looks for such a condition among those that AND joins.
  ///
  /// - Parameters:
  ///   - predicate: what stands behind WHERE.
  ///   - table: the table whose columns it names, with or without the table's name before them.
  ///   - alias: another name of the table in the query.
  ///   - rowID: a name of the table's rowid.
  ///   - columns: the table's columns whose values compare by a collation of SQLite's own.
  init?(
    predicate: String, table: String, alias: String? = nil, rowID: String, columns: [String]
  ) {
    let tokens = SQLTokens.tokens(of: predicate)
    // Where one of these stands outside of parentheses, AND need not join conditions.
    let breakers = ["OR", "BETWEEN", "CASE"]
    guard !tokens.contains(where: { $0.depth == 0 && breakers.contains(where: $0.isWord) }) else {
      return nil
    }
    let terms = tokens.split { $0.depth == 0 && $0.isWord("AND") }
    for term in terms {
      guard let (name, parameter) = Self.equality(term, table: alias ?? table),
        let column = columns.first(where: { $0.isSameIdentifier(as: name) })
      else { continue }
      self.parameter = parameter
      sql = """
        SELECT \(column.quotedIdentifier) FROM main.\(table.quotedIdentifier)
        WHERE \(rowID.quotedIdentifier) = ?
        """
      return
    }
    return nil
  }

  /// The sides of `column = :parameter`, in either order.
  private static func equality(
    _ term: ArraySlice<SQLToken>, table: String
  ) -> (column: String, parameter: String)? {
    var sides = term.split(maxSplits: 1) { $0.isSymbol("=") }
    guard sides.count == 2, term.count == sides[0].count + sides[1].count + 1 else { return nil }
    // `==` is two symbols.
    if sides[1].first?.isSymbol("=") == true { sides[1].removeFirst() }
    if sides[0].first?.kind == .parameter { sides.swapAt(0, 1) }
    guard sides[1].count == 1, let parameter = sides[1].first, parameter.kind == .parameter,
      let name = columnName(sides[0], table: table)
    else { return nil }
    return (name, String(parameter.text.dropFirst()))
  }

  private static func columnName(_ side: ArraySlice<SQLToken>, table: String) -> String? {
    let tokens = Array(side)
    if tokens.count == 1 { return tokens[0].name }
    guard tokens.count == 3, tokens[1].isSymbol("."),
      tokens[0].name?.isSameIdentifier(as: table) == true
    else { return nil }
    return tokens[2].name
  }
}
