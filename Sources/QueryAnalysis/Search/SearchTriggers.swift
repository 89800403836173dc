import GRDB

/// The triggers of a table that keep the index of an FTS5 table for it, under its own rowids.
///
/// Where they are what writes to the index, a document's entry changes with its row, in the same
/// transaction. https://www.sqlite.org/fts5.html#external_content_tables
struct SearchTriggers {
  /// The FTS5 table.
  let search: String
  /// The table that has the documents.
  let table: String
  /// The names of its rowid.
  let rowIDNames: [String]

  /// Why changed rows of the table do not tell which documents changed; nil: they do.
  ///
  /// O(n) for n bytes of triggers.
  func lack(in db: Database) throws -> String? {
    let triggers = try Row.fetchAll(
      db, sql: "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'")
    var events: Set<String> = []
    for trigger in triggers {
      let tokens = SQLTokens.tokens(of: trigger["sql"])
      guard let begin = tokens.firstIndex(where: { $0.isWord("BEGIN") }) else { continue }
      let writes = tokens[(begin + 1)...].split { $0.isSymbol(";") }.filter(isWrite)
      if writes.isEmpty { continue }
      guard (trigger["tbl_name"] as String).isSameIdentifier(as: table) else {
        return "the trigger \(trigger["name"] as String) of another table writes to it"
      }
      guard writes.allSatisfy(isOfOwnRow) else {
        return "the trigger \(trigger["name"] as String) may write to it under other rowids"
      }
      let head = tokens[..<begin]
      events.formUnion(Self.events.filter { event in head.contains { $0.isWord(event) } })
    }
    guard let missing = Self.events.first(where: { !events.contains($0) }) else { return nil }
    return "no trigger of \(table) ON \(missing) writes to it"
  }

  private static let events = ["INSERT", "UPDATE", "DELETE"]

  /// Whether a statement of a trigger writes to the index; there are no others than these, and none
  /// names a schema. https://www.sqlite.org/lang_createtrigger.html, "Syntax Restrictions"
  private func isWrite(_ statement: ArraySlice<SQLToken>) -> Bool {
    let word: String
    switch statement.first?.text.uppercased() {
    case "INSERT", "REPLACE": word = "INTO"
    case "DELETE": word = "FROM"
    case "UPDATE":
      let isOr = statement.dropFirst().first?.isWord("OR") == true
      return statement.dropFirst(isOr ? 3 : 1).first.map(isSearch) == true
    default: return false
    }
    return statement.drop { !$0.isWord(word) }.dropFirst().first.map(isSearch) == true
  }

  private func isSearch(_ token: SQLToken) -> Bool {
    token.name?.isSameIdentifier(as: search) == true
  }

  private func isOfOwnRow(_ statement: ArraySlice<SQLToken>) -> Bool {
    isInsertion(statement) || isDeletion(statement)
  }

  /// `INSERT INTO search (…, rowid, …) VALUES (…, new.id, …), …`, and the command 'delete' alike.
  private func isInsertion(_ statement: ArraySlice<SQLToken>) -> Bool {
    guard let into = statement.firstIndex(where: { $0.isWord("INTO") }),
      statement.first?.isWord("INSERT") == true || statement.first?.isWord("REPLACE") == true
    else { return false }
    var rest = statement[(into + 1)...]
    guard rest.popFirst().map(isSearch) == true,
      let columns = rest.takeParentheses()?.split(whereSeparator: { $0.isSymbol(",") }),
      let place = columns.firstIndex(where: { $0.count == 1 && $0.first?.isWord("rowid") == true }),
      rest.popFirst()?.isWord("VALUES") == true
    else { return false }
    repeat {
      guard let values = rest.takeParentheses() else { return false }
      let depth = values.first?.depth
      let all = values.split(omittingEmptySubsequences: false) {
        $0.isSymbol(",") && $0.depth == depth
      }
      guard all.indices.contains(place), isOwnRowID(all[place]) else { return false }
    } while rest.popFirst()?.isSymbol(",") == true
    return rest.isEmpty
  }

  /// `DELETE FROM search WHERE rowid = old.id`
  private func isDeletion(_ statement: ArraySlice<SQLToken>) -> Bool {
    let tokens = Array(statement)
    return tokens.count == 9 && tokens[0].isWord("DELETE") && tokens[1].isWord("FROM")
      && isSearch(tokens[2]) && tokens[3].isWord("WHERE") && tokens[4].isWord("rowid")
      && tokens[5].isSymbol("=") && isOwnRowID(tokens[6...])
  }

  /// `new.id` or `old.id`
  private func isOwnRowID(_ expression: ArraySlice<SQLToken>) -> Bool {
    let tokens = Array(expression)
    guard tokens.count == 3, tokens[0].isWord("new") || tokens[0].isWord("old"),
      tokens[1].isSymbol("."), let name = tokens[2].name
    else { return false }
    return rowIDNames.contains(where: name.isSameIdentifier)
  }
}
