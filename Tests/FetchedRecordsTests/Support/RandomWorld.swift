import OrderedResults
import TestSupport

@testable import FetchedRecords

/// A schema with the things that go wrong, queries over it, and an independent SELECT for each.
enum RandomWorld {
  static let schema = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, country);
    CREATE TABLE book (
      id INTEGER PRIMARY KEY, authorId INTEGER REFERENCES author(id)
        ON DELETE CASCADE ON UPDATE CASCADE,
      title TEXT, price);
    CREATE TABLE pair (a, b, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE loose (code TEXT PRIMARY KEY, v, w);
    CREATE TABLE audit (n INTEGER);
    CREATE INDEX bookByAuthor ON book(authorId);
    CREATE TRIGGER bookAudit AFTER UPDATE ON book BEGIN
      UPDATE author SET country = new.price WHERE id = new.authorId AND new.price IS NOT NULL
        AND new.price > 3;
    END;
    CREATE VIEW cheap AS SELECT id, title, price FROM book WHERE price < 3;
    PRAGMA foreign_keys = 1;
    """

  /// A query and the plain SELECT that says what its result is.
  struct Case {
    let definition: QueryDefinition
    /// The section's name first, or NULL where the query has no sections; then the visible columns.
    let oracle: String
    var arguments: QueryArguments = [:]
  }

  static let cases: [Case] = declared + written

  private static let declared: [Case] = [
    Case(
      definition: QueryDefinition(
        name: "authors", form: .declared(.init(table: "author", order: ["name"]))),
      oracle: "SELECT NULL, id, name, country FROM author ORDER BY name, id"),
    Case(
      definition: QueryDefinition(
        name: "byCountry",
        form: .declared(.init(table: "author", fields: ["name"], order: ["name DESC"])),
        section: "country"),
      oracle: "SELECT country, name FROM author ORDER BY country, name DESC, id DESC"),
    Case(
      definition: QueryDefinition(
        name: "byName", form: .declared(.init(table: "author", fields: ["id", "name"])),
        section: "name"),
      oracle: "SELECT name, id, name FROM author ORDER BY name, name COLLATE BINARY, id"),
    Case(
      definition: QueryDefinition(
        name: "byInitial",
        form: .declared(
          .init(
            table: "book", fields: ["title", "price AS cost"], predicate: "price > :least",
            order: ["price"])),
        section: "upper(substr(title, 1, 1))", sectionIndexTitle: "lower(substr(title, 1, 1))",
        parameters: [QueryParameter(name: "least", type: .integer)]),
      oracle: """
        SELECT upper(substr(title, 1, 1)), title, price FROM book WHERE price > 1
        ORDER BY 1, price, id
        """,
      arguments: ["least": .integer(1)]),
    Case(
      definition: QueryDefinition(
        name: "pairs", form: .declared(.init(table: "pair", order: ["v DESC"])), section: "a"),
      oracle: "SELECT a, a, b, v FROM pair ORDER BY a, v DESC, a DESC, b DESC"),
    Case(
      definition: QueryDefinition(
        name: "loose", form: .declared(.init(table: "loose", order: ["w", "v"]))),
      oracle: "SELECT NULL, code, v, w FROM loose ORDER BY w, v, code"),
    Case(
      definition: QueryDefinition(
        name: "cheap", form: .declared(.init(table: "cheap", order: ["price NULLS LAST"]))),
      oracle: "SELECT NULL, id, title, price FROM cheap ORDER BY price NULLS LAST, id"),
    Case(
      definition: QueryDefinition(
        name: "perCountry",
        form: .declared(
          .init(
            table: "author", fields: ["country", "count(*) AS n"], groupBy: ["country"],
            having: "count(*) > 1", order: ["n DESC"]))),
      oracle: """
        SELECT NULL, country, count(*) AS n FROM author GROUP BY country HAVING n > 1
        ORDER BY n DESC, country DESC
        """),
    Case(
      definition: QueryDefinition(
        name: "total", form: .declared(.init(table: "book", fields: ["count(*) AS n"]))),
      oracle: "SELECT NULL, count(*) FROM book"),
  ]

  private static let written: [Case] = [
    Case(
      definition: QueryDefinition(
        name: "counts",
        form: .sql(
          """
          SELECT author.id, author.name, count(book.id) AS bookCount
          FROM author LEFT JOIN book ON book.authorId = author.id
          GROUP BY author.id ORDER BY author.name, author.id
          """), key: ["id"]),
      oracle: """
        SELECT NULL, id, name, (SELECT count(*) FROM book WHERE authorId = author.id)
        FROM author ORDER BY name, id
        """),
    Case(
      definition: QueryDefinition(
        name: "duplicates",
        form: .sql(
          """
          SELECT author.id AS author, book.title FROM author JOIN book ON authorId = author.id
          ORDER BY author.id, book.title, book.id
          """),
        key: ["author"], section: "author"),
      oracle: """
        SELECT authorId, authorId, title FROM book WHERE authorId IN (SELECT id FROM author)
        ORDER BY authorId, title, id
        """),
    Case(
      definition: QueryDefinition(
        name: "keyless", form: .sql("SELECT country, name FROM author ORDER BY country, name, id"),
        section: "country"),
      oracle: "SELECT country, country, name FROM author ORDER BY country, name, id"),
    Case(
      definition: QueryDefinition(
        name: "top", form: .sql("SELECT id, title, price FROM book ORDER BY price DESC, id LIMIT 5")
      ),
      oracle: "SELECT NULL, id, title, price FROM book ORDER BY price DESC, id LIMIT 5"),
    Case(
      definition: QueryDefinition(
        name: "union",
        form: .sql(
          """
          SELECT 'author' AS kind, id, name FROM author UNION ALL
          SELECT 'book', id, title FROM book ORDER BY 1, 3, 2
          """), key: ["kind", "id"], section: "kind"),
      oracle: """
        SELECT * FROM (SELECT 'author' AS kind, 'author', id, name FROM author UNION ALL
        SELECT 'book', 'book', id, title FROM book) ORDER BY 1, 4, 3
        """),
  ]

  // MARK: - Writes

  /// The statements of one transaction, and whether it is rolled back.
  static func transaction(using random: inout RandomSource) -> (sql: [String], isRolledBack: Bool) {
    let count =
      random.once(in: 12) ? Int.random(in: 5...40, using: &random) : random.pick([1, 1, 2, 3])
    return ((0..<count).map { _ in statement(using: &random) }, random.once(in: 10))
  }

  private static func statement(using random: inout RandomSource) -> String {
    let id = Int.random(in: 1...25, using: &random)
    let other = Int.random(in: 1...25, using: &random)
    let value = literal(using: &random)
    let second = literal(using: &random)
    switch Int.random(in: 0..<22, using: &random) {
    case 0, 1:
      return "INSERT OR REPLACE INTO author VALUES (\(id), \(text(using: &random)), \(value))"
    case 2, 3, 4:
      return "INSERT OR IGNORE INTO author VALUES (\(id), \(text(using: &random)), \(value))"
    case 5, 6:
      return """
        INSERT OR IGNORE INTO book SELECT \(other), \(id), \(text(using: &random)), \(value)
        WHERE EXISTS (SELECT 1 FROM author WHERE id = \(id))
        """
    case 7: return "UPDATE author SET country = \(value) WHERE id = \(id)"
    case 8: return "UPDATE author SET name = \(text(using: &random)) WHERE id = \(id)"
    case 9: return "UPDATE OR IGNORE author SET id = \(other) WHERE id = \(id)"
    case 10: return "UPDATE book SET price = \(value) WHERE id = \(id)"
    case 11:
      return "UPDATE book SET title = \(text(using: &random)), price = \(value) WHERE id < \(id)"
    case 12: return "DELETE FROM author WHERE id = \(id)"
    case 13: return "DELETE FROM book WHERE id = \(id)"
    case 14:
      return "INSERT OR REPLACE INTO pair VALUES (\(notNull(value)), \(notNull(second)), \(id))"
    case 15: return "UPDATE pair SET v = \(value) WHERE a = \(notNull(second))"
    case 16: return "DELETE FROM pair WHERE a = \(notNull(value))"
    case 17:
      return "INSERT OR REPLACE INTO loose VALUES (\(text(using: &random)), \(value), \(second))"
    case 18: return "UPDATE OR IGNORE loose SET v = \(value) WHERE w IS \(second)"
    case 19: return "DELETE FROM loose WHERE v IS \(value)"
    case 20: return "INSERT INTO audit VALUES (\(id))"
    default:
      // The truncate optimisation: https://www.sqlite.org/lang_delete.html
      return random.once(in: 6)
        ? "DELETE FROM \(random.pick(["book", "pair", "loose"]))" : "SELECT 1"
    }
  }

  private static func notNull(_ literal: String) -> String { literal == "NULL" ? "0" : literal }

  private static func literal(using random: inout RandomSource) -> String {
    random.pick([
      "NULL", "0", "1", "2", "5", "1.0", "2.5", "-1", "''", "'a'", "'A'", "'b'", "x''", "x'61'",
      "9007199254740993", "9007199254740992.0", "'a' || char(0) || 'b'",
    ])
  }

  private static func text(using random: inout RandomSource) -> String {
    random.pick([
      "NULL", "''", "'a'", "'A'", "'b'", "'B '", "'ä'", "'zoë'", "'a''b'", "'x' || char(10)",
    ])
  }
}
