import OrderedResults
import QueryAnalysis
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
    CREATE TABLE shelf (id INTEGER PRIMARY KEY, bookId INTEGER, room TEXT, n INTEGER);
    CREATE TABLE room (code TEXT PRIMARY KEY NOT NULL, floor);
    CREATE INDEX shelfByBook ON shelf(bookId);
    CREATE INDEX shelfByRoom ON shelf(room);
    CREATE INDEX shelfByNumber ON shelf(n);
    CREATE INDEX shelfByEnding ON shelf(substr(room, -1));
    CREATE INDEX bookByAuthor ON book(authorId);
    CREATE TRIGGER bookAudit AFTER UPDATE ON book BEGIN
      UPDATE author SET country = new.price WHERE id = new.authorId AND new.price IS NOT NULL
        AND new.price > 3;
    END;
    CREATE VIEW signed(number, name, by) AS
      SELECT book.id, title, author.name FROM book JOIN author ON author.id = book.authorId;
    CREATE VIEW cheap AS SELECT id, title, price FROM book WHERE price < 3;
    CREATE VIEW crowd(room, shelves, total) AS
      SELECT room, count(*), sum(n) FROM shelf GROUP BY room HAVING count(*) > 1;
    PRAGMA foreign_keys = 1;
    """

  /// A query and the plain SELECT that says what its result is.
  struct Case {
    let definition: QueryDefinition
    /// The section's name first, or NULL where the query has no sections; then the visible columns.
    let oracle: String
    var arguments: QueryArguments = [:]
    var tracking = Tracking.Mode.incremental
    /// Where the database holds text in UTF-16; nil: the same.
    var trackingOfUTF16: Tracking.Mode?
  }

  static let cases =
    declared + refetched + written + joined + subqueries + grouped + overGroups
    + windows

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
      oracle: "SELECT a, a, b, v FROM pair ORDER BY a, v DESC, a DESC, b DESC",
      trackingOfUTF16: .refetch),
    Case(
      definition: QueryDefinition(
        name: "loose", form: .declared(.init(table: "loose", order: ["w", "v"]))),
      oracle: "SELECT NULL, code, v, w FROM loose ORDER BY w, v, code, rowid"),
    Case(
      definition: QueryDefinition(
        name: "looseByCode", form: .declared(.init(table: "loose", order: ["code DESC"])),
        section: "v"),
      oracle: "SELECT v, code, v, w FROM loose ORDER BY v, code DESC, rowid DESC"),
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
        """, trackingOfUTF16: .refetch),
    Case(
      definition: QueryDefinition(
        name: "total", form: .declared(.init(table: "book", fields: ["count(*) AS n"]))),
      oracle: "SELECT NULL, count(*) FROM book", tracking: .refetch),
  ]
}
