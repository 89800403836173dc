extension QueryDefinition.Declaration {
  /// Takes a SELECT over one table apart: `SELECT … FROM table [WHERE …] [ORDER BY …]`.
  ///
  /// O(b), b bytes. Fails for statements of another form.
  ///
  /// - Parameter sql: what SQLite has prepared, so that it is right.
  package init?(plainSelect sql: String) {
    guard let syntax = try? SelectParser.parse(sql), syntax.commonTables.isEmpty,
      !syntax.isDistinct, syntax.groupBy.isEmpty, syntax.having == nil, syntax.limit == nil,
      syntax.sources.count == 1, let source = syntax.sources.first, source.alias == nil,
      case .table(schema: nil, let table) = source.origin
    else { return nil }
    self.init(
      table: table, fields: syntax.columns.map(\.text), predicate: syntax.predicate,
      order: syntax.order)
  }
}
