package import ChangeCapture
import GRDB

/// What an FTS5 table is made of, and where its changes can be seen.
///
/// A table with content of its own keeps each document in `name_content`, under the same rowid, and
/// whoever changes a document changes it there. What the index says of a document follows from it:
/// 'optimize', 'merge' and 'rebuild' write the index anew, and it says the same. (Unless somebody wrote to
/// the tables behind FTS5 by himself, which its integrity-check takes for damage.) Where documents are
/// elsewhere, the index itself says for which of them something was written (``SearchIndex``).
/// https://www.sqlite.org/fts5.html, "FTS5 data structures"
struct SearchTable {
  let name: String
  /// Its text as a whole, which is named like the table, and how well a row fits.
  let hiddenColumns: [String]
  let storage: SearchStorage
  /// Why changed rows are not seen there, in a sentence.
  let lack: String?

  /// - Returns: nil for a table that is none of FTS5.
  init?(_ written: String, _ facts: SchemaFacts) {
    guard let definition = SearchTableDefinition(written, facts) else { return nil }
    name = definition.name
    hiddenColumns = [name, Self.rank]
    guard let content = definition.content else {
      storage = SearchStorage(rows: [name + "_content"])
      lack = definition.doubt
      return
    }
    // What a document shows is in a row of the other table, of the same rowid.
    storage = SearchStorage(
      rows: [name, content],
      index: SearchIndex(table: name, hasPositions: definition.hasPositions))
    lack = definition.doubt ?? Self.lack(ofContent: content, definition, facts)
  }

  /// Why it cannot be told which documents changed that are not in a table of its own.
  ///
  /// https://www.sqlite.org/fts5.html#external_content_tables
  private static func lack(
    ofContent content: String, _ definition: SearchTableDefinition, _ facts: SchemaFacts
  ) -> String? {
    let name = definition.name
    if content.isEmpty {
      return "\(name) keeps no documents by which it could be told which of them changed"
    }
    if !definition.keepsSizes {
      return "\(name) does not tell which documents it has: it needs columnsize = 1"
    }
    return rowIDNames(of: content, facts).contains(where: definition.contentRowID.isSameIdentifier)
      ? nil : "\(name) has the documents of \(content), but not under its rowids"
  }

  /// The names of a table's rowid; none: it has none.
  private static func rowIDNames(of table: String, _ facts: SchemaFacts) -> [String] {
    guard let rowID = facts.rowIDExpression(of: table) else { return [] }
    return [rowID] + facts.freeRowIDNames(facts.columns(of: table))
  }

  static let rank = "rank"
}

/// Where the changes of an FTS5 table are seen.
package struct SearchStorage: Sendable, Equatable {
  /// Each of its rows that changed is a row of one of these tables that changed, by the same rowid.
  package let rows: [String]
  /// The index that tells which rows of the FTS5 table changed, where its documents are elsewhere.
  package var index: SearchIndex?

  /// The tables of which it must be known which rows changed.
  package var followed: [String] {
    guard let index else { return rows }
    return rows.filter { $0 != index.table } + [index.entries, index.sizes]
  }
}

/// `CREATE VIRTUAL TABLE name USING fts5(column, …, option = value, …)`
struct SearchTableDefinition {
  let name: String
  /// The value of the option `content`: the table that has the text; empty: none has.
  private(set) var content: String?
  /// The column of that table that has the documents' rowids.
  private(set) var contentRowID = "rowid"
  /// Whether the index notes where in a document a word is.
  private(set) var hasPositions = true
  /// Whether there is a row for each document that has its size.
  private(set) var keepsSizes = true
  /// What in it is not understood.
  private(set) var doubt: String?

  /// The tokenizers of FTS5 itself, which make the same tokens of a text at all times.
  private static let tokenizers = ["unicode61", "ascii", "porter", "trigram"]
  /// The options that decide how the index is kept, and not what is found.
  private static let harmless = ["prefix"]

  /// - Returns: nil for a table that is none of FTS5.
  init?(_ written: String, _ facts: SchemaFacts) {
    guard
      let row = try? Row.fetchOne(
        facts.db,
        sql: """
          SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE
          """,
        arguments: [written])
    else { return nil }
    name = row[0]
    let tokens = SQLTokens.tokens(of: row[1])
    guard let using = tokens.firstIndex(where: { $0.isWord("USING") }),
      tokens.dropFirst(using + 1).first?.name?.isSameIdentifier(as: "fts5") == true
    else { return nil }
    var rest = tokens[(using + 2)...]
    let arguments = rest.takeParentheses() ?? []
    for argument in arguments.split(where: { $0.isSymbol(",") && $0.depth == 1 }) {
      guard argument.dropFirst().first?.isSymbol("=") == true else { continue }
      add(argument.first?.name?.lowercased() ?? "", argument.dropFirst(2).unquoted)
    }
  }

  private mutating func add(_ option: String, _ value: String) {
    switch option {
    case "content": content = value
    case "content_rowid": contentRowID = value
    case "columnsize": keepsSizes = value != "0"
    case "detail": hasPositions = value.lowercased() != "none"
    case "tokenize":
      // A tokenizer's own arguments are in quotes.
      let words = value.split { $0 == " " || $0 == "'" || $0 == "\"" }.prefix(2)
      let names = words.first?.lowercased() == "porter" ? words : words.prefix(1)
      for name in names where !Self.tokenizers.contains(name.lowercased()) {
        doubt = "what its tokenizer \(name) makes of a text is not known"
      }
    case _ where Self.harmless.contains(option): break
    default: doubt = "its option \(option) is not known"
    }
  }
}

extension ArraySlice<SQLToken> {
  /// The text without the quotes around it.
  fileprivate var unquoted: String {
    guard count == 1, let token = first else { return sourceText }
    guard token.kind == .string else { return token.name ?? sourceText }
    return String(token.text.dropFirst().dropLast().replacing("''", with: "'"))
  }
}
