import GRDB

// From SQLite 3.44 on an aggregate may be told in which order to take its rows, `group_concat(name ORDER BY name)`:
// https://www.sqlite.org/lang_aggfunc.html#aggorderby
extension ResolvedSelect {
  /// Whether an aggregate comes to the same in whatever order SQLite finds the rows: its own ORDER BY takes no two of them
  /// for equal, or those look the same to it.
  ///
  /// - Parameters:
  ///   - call: the parentheses with what it is called with, and what follows.
  ///   - db: knows the keys of its tables.
  /// - Returns: false where that is not certain.
  func settlesOrder(of call: ArraySlice<SQLToken>, in db: Database) -> Bool {
    var rest = call
    guard let depth = call.first.map({ $0.depth + 1 }), let inner = rest.takeParentheses(),
      let place = inner.firstIndex(where: { $0.isWord("ORDER") && $0.depth == depth })
    else { return false }
    let isDistinct = inner.first?.isWord("DISTINCT") == true
    let arguments = inner[..<place].dropFirst(isDistinct ? 1 : 0)
    let terms = inner[place...].dropFirst(2)
      .split { $0.isSymbol(",") && $0.depth == depth }.map { OrderTerm($0.sourceText) }
    let columns = terms.compactMap { $0.collation == nil ? origin(of: $0.expression) : nil }
    let facts = SchemaFacts(db: db)
    let exact = columns.filter { facts.isExact($0.name, of: tables[$0.table]) }
    let references = Self.references(in: arguments)
    if !references.isEmpty, references.allSatisfy({ origin(of: $0).map(exact.contains) == true }) {
      return true
    }
    // Of the rows with one value DISTINCT takes the first that comes.
    if isDistinct || !functionIDs.isEmpty { return false }
    // Rows that a LEFT JOIN finds none for have no key.
    let keys = columns.filter { !tables[$0.table].isNullable }
    let determination = RowDetermination(self, db)
    let known = determination.identified(by: Set(keys))
    return determination.closure(of: known).count == tables.count
  }
}
