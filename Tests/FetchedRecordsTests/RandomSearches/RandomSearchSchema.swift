import TestSupport

/// Posts and notes that are searched by FTS5, whose tables are made with options by chance.
struct RandomSearchSchema {
  /// An FTS5 table, and what of it can be asked.
  struct Search {
    let name: String
    let columns: [String]
    /// How much the index knows of where a word is, which decides what can be asked.
    let detail: String
  }

  private(set) var statements = [
    "CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, body TEXT, author TEXT, at INTEGER)",
    "CREATE INDEX post_author ON post (author)",
    "CREATE TABLE tag (id INTEGER PRIMARY KEY, post INTEGER, word TEXT)",
    "CREATE INDEX tag_post ON tag (post)", "CREATE INDEX tag_word ON tag (word)",
    "CREATE TABLE draft (id INTEGER PRIMARY KEY, title TEXT)",
  ]
  private(set) var searches: [Search] = []

  init(using random: inout RandomSource) {
    addCopies(using: &random)
    addNotes(using: &random)
    addPapers(using: &random)
    statements += [
      """
      CREATE VIEW hit AS SELECT p.id, p.title, p.author, c.rowid AS doc, c.title AS found FROM post p \
      JOIN copy c ON c.rowid = p.id
      """,
      """
      CREATE VIEW tagged AS SELECT p.id, p.title, \
      (SELECT count(*) FROM tag WHERE tag.post = p.id) AS tags FROM post p \
      WHERE NOT EXISTS (SELECT 1 FROM draft WHERE draft.id = p.id AND draft.title = p.title)
      """,
    ]
  }

  private static func options(_ random: inout RandomSource) -> (text: String, detail: String) {
    var options: [String] = []
    if random.once(in: 3) { options.append("prefix = '1 2'") }
    let tokenizer = random.pick(["", "porter", "\"unicode61 remove_diacritics 0\"", "ascii"])
    if !tokenizer.isEmpty { options.append("tokenize = \(tokenizer)") }
    if random.once(in: 5) { options.append("columnsize = 0") }
    let detail = random.pick(["full", "full", "full", "column", "none"])
    if detail != "full" { options.append("detail = \(detail)") }
    return (options.map { ", " + $0 }.joined(), detail)
  }

  /// The texts of posts, kept a second time by triggers.
  private mutating func addCopies(using random: inout RandomSource) {
    let (options, detail) = Self.options(&random)
    statements += [
      "CREATE VIRTUAL TABLE copy USING fts5(title, body\(options))",
      """
      CREATE TRIGGER copy_insert AFTER INSERT ON post BEGIN
        INSERT OR REPLACE INTO copy (rowid, title, body) VALUES (new.id, new.title, new.body); END
      """,
      """
      CREATE TRIGGER copy_delete AFTER DELETE ON post BEGIN
        DELETE FROM copy WHERE rowid = old.id; END
      """,
      """
      CREATE TRIGGER copy_update AFTER UPDATE ON post BEGIN
        UPDATE copy SET rowid = new.id, title = new.title, body = new.body WHERE rowid = old.id; END
      """,
    ]
    searches.append(Search(name: "copy", columns: ["title", "body"], detail: detail))
  }

  /// Texts that are nowhere else.
  private mutating func addNotes(using random: inout RandomSource) {
    let (options, detail) = Self.options(&random)
    statements.append(
      "CREATE VIRTUAL TABLE note USING fts5(title, author UNINDEXED, body\(options))")
    searches.append(Search(name: "note", columns: ["title", "body"], detail: detail))
  }

  /// Texts of a table of their own, of which the index alone is FTS5's.
  private mutating func addPapers(using random: inout RandomSource) {
    let (options, detail) = Self.options(&random)
    let insertion = "INSERT INTO print (rowid, title, body) VALUES (new.id, new.title, new.body);"
    let deletion =
      "INSERT INTO print (print, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);"
    let columns = random.pick(["", "", " OF id, title, body"])
    statements += [
      "CREATE TABLE paper (id INTEGER PRIMARY KEY, title TEXT, body TEXT, at INTEGER)",
      "CREATE VIRTUAL TABLE print USING fts5(title, body, content = paper, content_rowid = id\(options))",
      "CREATE TRIGGER print_insert AFTER INSERT ON paper BEGIN \(insertion) END",
      "CREATE TRIGGER print_delete AFTER DELETE ON paper BEGIN \(deletion) END",
      """
      CREATE TRIGGER print_update AFTER UPDATE\(columns) ON paper BEGIN
        \(deletion) \(insertion) END
      """,
    ]
    searches.append(Search(name: "print", columns: ["title", "body"], detail: detail))
  }

  // MARK: - Writes

  /// What is there before the query is looked at.
  func rows(using random: inout RandomSource) -> [String] {
    (0..<24).map { _ in insertion(&random) }
  }

  /// The statements of a transaction.
  func transaction(using random: inout RandomSource) -> [String] {
    let count = random.once(in: 10) ? random.number(4...20) : random.pick([1, 1, 1, 2, 3])
    return (0..<count).map { _ in statement(&random) }
  }

  private func insertion(_ random: inout RandomSource) -> String {
    let (id, text) = (random.number(1...12), Self.text(&random))
    let (other, author) = (Self.text(&random), Self.author(&random))
    let conflict = random.pick(["REPLACE", "REPLACE", "IGNORE"])
    switch random.number(0...8) {
    case 0...2:
      return """
        INSERT OR \(conflict) INTO post VALUES (\(id), \(text), \(other), \(author), \
        \(random.number(1...4)))
        """
    case 3, 4:
      return """
        INSERT OR \(conflict) INTO note (rowid, title, author, body) \
        VALUES (\(id), \(text), \(author), \(other))
        """
    case 5: return "INSERT OR \(conflict) INTO draft VALUES (\(id), \(text))"
    // Of what REPLACE takes away no trigger is told, and the index keeps it.
    case 6, 7:
      let update = "DO UPDATE SET title = excluded.title, body = excluded.body"
      return """
        INSERT INTO paper VALUES (\(id), \(text), \(other), \(random.number(1...4))) \
        ON CONFLICT (id) \(random.pick([update, update, "DO NOTHING"]))
        """
    default:
      return """
        INSERT OR \(conflict) INTO tag VALUES (\(random.number(1...20)), \(id), \(Self.word(&random)))
        """
    }
  }

  private func statement(_ random: inout RandomSource) -> String {
    let id = random.number(1...12)
    let condition = random.pick(["= \(id)", "= \(id)", "= \(id)", "> \(id)", "% 4 = 1"])
    switch random.number(0...18) {
    case 0...4: return insertion(&random)
    case 5: return "UPDATE post SET title = \(Self.text(&random)) WHERE id \(condition)"
    case 6: return "UPDATE post SET body = \(Self.text(&random)) WHERE id \(condition)"
    case 7: return "UPDATE post SET author = \(Self.author(&random)) WHERE id \(condition)"
    case 8: return "UPDATE OR IGNORE post SET id = \(random.number(1...12)) WHERE id = \(id)"
    case 9: return "DELETE FROM post WHERE id \(condition)"
    case 10: return "UPDATE note SET title = \(Self.text(&random)) WHERE rowid \(condition)"
    case 11: return "UPDATE note SET rowid = \(random.number(1...12)) WHERE rowid = \(id)"
    case 12: return "DELETE FROM note WHERE rowid \(condition)"
    case 13: return "DELETE FROM \(random.pick(["tag", "draft"])) WHERE id = \(id)"
    case 15: return "UPDATE paper SET title = \(Self.text(&random)) WHERE id \(condition)"
    case 16:
      return random.pick([
        "UPDATE OR IGNORE paper SET id = \(random.number(1...12)) WHERE id = \(id)",
        "UPDATE paper SET at = \(id) WHERE id \(condition)",
      ])
    case 17: return "DELETE FROM paper WHERE id \(condition)"
    // What the triggers do not know of.
    case 14: return "UPDATE copy SET title = \(Self.text(&random)) WHERE rowid = \(id)"
    default: return command(&random)
    }
  }

  /// What changes an index and nothing that is found in it. (What `rank` is another connection takes over
  /// only behind its next search, so that two of them order differently.)
  ///
  /// https://www.sqlite.org/fts5.html#special_insert_commands
  private func command(_ random: inout RandomSource) -> String {
    let name = random.pick(searches).name
    let command = random.pick([
      "('optimize')", "('rebuild')", "('integrity-check')", "('merge', 500)", "('merge', -500)",
      "('automerge', \(random.number(0...16)))", "('crisismerge', 2)", "('usermerge', 2)",
      "('pgsz', 64)",
    ])
    let columns = command.contains(",") ? "(\(name), rank)" : "(\(name))"
    return "INSERT INTO \(name)\(columns) VALUES\(command)"
  }

  // MARK: - Texts

  static func word(_ random: inout RandomSource) -> String {
    "'\(random.pick(["a", "b", "c", "ab", "abc", "running"]))'"
  }

  private static func author(_ random: inout RandomSource) -> String {
    random.pick(["'x'", "'y'", "'z'", "NULL"])
  }

  /// Few words, so that much is found, and what a tokenizer may stumble over.
  ///
  /// No BLOBs: `highlight` makes a text of one, for all that SQLite reads of the row after it.
  private static func text(_ random: inout RandomSource) -> String {
    if random.once(in: 8) {
      return random.pick([
        "NULL", "''", "5", "2.5", "'a' || char(0) || 'b'", "'it''s \"a\" b'", "'á A'",
        "'😀 a'", "'a*b'", "' '", "'runs run'", "hex(zeroblob(3000)) || ' a'",
      ])
    }
    let words = (0..<random.number(1...4)).map { _ in
      random.pick(["a", "a", "b", "b", "c", "ab", "abc", "running", "run", "B"])
    }
    return "'\(words.joined(separator: " "))'"
  }
}
