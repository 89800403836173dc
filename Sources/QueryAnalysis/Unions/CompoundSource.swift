import GRDB

/// A view, a CTE or a subquery of FROM that UNION ALL or UNION makes.
struct CompoundSource {
  let compound: CompoundSelect
  /// The name of the view or CTE.
  let name: String
  private let columns: [String]?
  private let text: String
  private enum Origin { case view, commonTable, subquery }
  private let origin: Origin

  /// nil: it is something else.
  init?(_ source: SourceSyntax, in syntax: SelectSyntax, _ facts: SchemaFacts) {
    switch source.origin {
    case .function: return nil
    case .select(let sql): (name, columns, text, origin) = ("didchange source", nil, sql, .subquery)
    case .table(nil, let name) where syntax.commonTable(named: name) != nil:
      guard let table = syntax.commonTable(named: name) else { return nil }
      (self.name, columns, text, origin) = (name, table.columns, table.select, .commonTable)
    case .table(let schema, let name):
      guard schema?.isSameIdentifier(as: "main") != false, let view = try? facts.view(name) else {
        return nil
      }
      (self.name, columns, text, origin) = (name, view.columns, view.select, .view)
    }
    guard let compound = try? SelectParser.parseCompound(text) else { return nil }
    self.compound = compound
  }

  /// - Throws: ``NotIncremental`` where its arms mean something else, or are not all of it, in its place.
  func check(_ syntax: SelectSyntax, orderIsFree: Bool) throws(NotIncremental) {
    guard let last = compound.arms.last else { return }
    if last.limit != nil { throw NotIncremental(reason: "in \(name), there is LIMIT") }
    if !last.order.isEmpty, syntax.order.isEmpty, syntax.sources.count == 1, !orderIsFree {
      throw NotIncremental(reason: "its order is that of a subquery: write ORDER BY outside of it")
    }
    let words = SQLTokens.tokens(of: text).compactMap(\.name)
    let hidden = origin == .view ? syntax.commonTables.map(\.name) : []
    let own = origin == .commonTable ? [name] : []
    for name in hidden + own where words.contains(where: name.isSameIdentifier) {
      throw NotIncremental(
        reason: "a table of WITH has the name of what \(self.name) reads: \(name)")
    }
  }

  /// The names of its columns, as SQLite gives them.
  func names(in syntax: SelectSyntax, _ facts: SchemaFacts) throws -> [String] {
    if let columns { return columns }
    if origin == .view { return facts.columns(of: name) }
    let tables = syntax.commonTables.map(\.sql).joined(separator: ", ")
    let with = tables.isEmpty ? "" : "WITH \(tables)\n"
    let from = origin == .commonTable ? name.quotedIdentifier : "(\n\(text)\n)"
    guard let statement = try? facts.db.makeStatement(sql: "\(with)SELECT * FROM \(from)") else {
      throw NotIncremental(reason: "the columns of what UNION makes are not certain")
    }
    return statement.columnNames
  }
}

extension SelectSyntax {
  fileprivate func commonTable(named name: String) -> CommonTable? {
    commonTables.first { $0.name.isSameIdentifier(as: name) }
  }
}
