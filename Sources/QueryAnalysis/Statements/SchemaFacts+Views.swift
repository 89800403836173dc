import GRDB

extension SchemaFacts {
  /// The views, taken apart; those that cannot be read are left out.
  func views() throws -> [CommonTable] { try views(where: "TRUE") }

  /// A view, taken apart; nil: there is none of this name, or it cannot be read.
  func view(_ name: String) throws -> CommonTable? {
    try views(where: "name = ? COLLATE NOCASE", [name]).first
  }

  private func views(
    where condition: String, _ arguments: StatementArguments = []
  ) throws -> [CommonTable] {
    try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'view' AND \(condition)",
      arguments: arguments
    ).compactMap { CommonTable(view: $0[0], createdBy: $0[1]) }
  }
}

extension CommonTable {
  /// `CREATE VIEW name [(columns)] AS select`: https://www.sqlite.org/lang_createview.html
  fileprivate init?(view name: String, createdBy sql: String) {
    let tokens = SQLTokens.tokens(of: sql)
    guard let start = tokens.firstIndex(where: { $0.isWord("AS") && $0.depth == 0 }) else {
      return nil
    }
    var columns: [String]?
    if let open = tokens[..<start].firstIndex(where: { $0.isSymbol("(") }) {
      var rest = tokens[open..<start]
      columns = rest.takeParentheses()?.names
    }
    self.init(name: name, columns: columns, select: tokens[(start + 1)...].sourceText)
  }
}
