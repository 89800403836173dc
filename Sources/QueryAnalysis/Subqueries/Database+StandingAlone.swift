import GRDB

extension Database {
  /// A subquery as a statement, behind a WITH, if it looks at nothing around it. A name in double quotation marks that is none of its
  /// own columns is a text where it stands alone: as a name in grave accents it is nothing else.
  func standingAlone(_ body: ArraySlice<SQLToken>, with tables: String = "") -> Statement? {
    var sql = tables
    var end = body.first?.text.startIndex
    for token in body where token.text.first == "\"" {
      guard let start = end, let name = token.name else { return nil }
      sql += token.text.base[start..<token.text.startIndex]
      sql += "`" + name.replacing("`", with: "``") + "`"
      end = token.text.endIndex
    }
    guard let start = end, let last = body.last else { return nil }
    sql += last.text.base[start..<last.text.endIndex]
    return try? makeStatement(sql: sql)
  }
}

extension SchemaFacts {
  /// A statement runs again where chance or the present time decide: another result is due whatever has changed.
  ///
  /// - Throws: ``NotIncremental`` where they do, in a view that it names, too.
  func checkStability(of sql: String) throws {
    let functions = try FunctionList(db)
    for text in try textsRead(by: sql) {
      do {
        try functions.checkStability(of: text)
      } catch {
        throw NotIncremental(reason: error.description)
      }
    }
  }

  /// A text, and those of the views that it may read.
  func textsRead(by sql: String) throws -> [String] {
    var views = try views()
    var texts = [sql]
    var next = 0
    while next < texts.count {
      let words = SQLTokens.tokens(of: texts[next]).compactMap(\.nameOrText)
      let named = views.partition { words.contains(where: $0.name.isSameIdentifier) }
      texts += views[named...].map(\.select)
      views.removeSubrange(named...)
      next += 1
    }
    return texts
  }
}
