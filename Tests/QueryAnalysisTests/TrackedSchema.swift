import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

/// A schema with whatever decides how a query is tracked.
let trackedSchema = """
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, country TEXT);
  CREATE TABLE book (
    id INTEGER PRIMARY KEY, authorId INTEGER, title TEXT, price, genre TEXT, "from" TEXT);
  CREATE INDEX bookByAuthor ON book(authorId);
  CREATE INDEX bookByGenre ON book(genre);
  CREATE INDEX bookByPrice ON book(price);
  CREATE INDEX bookByInitial ON book(substr(title, 1, 1));
  CREATE INDEX bookByKind ON book(authorId, CASE WHEN price > 2 THEN 'dear' ELSE 'cheap' END);
  CREATE INDEX authorByName ON author(name);
  CREATE TABLE genre (code TEXT PRIMARY KEY NOT NULL, label TEXT, loose TEXT UNIQUE);
  CREATE TABLE pair (a INTEGER, b INTEGER, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE TABLE mixed (a TEXT, v, PRIMARY KEY (a COLLATE NOCASE)) WITHOUT ROWID;
  CREATE INDEX mixedByA ON mixed(a, v);
  CREATE TABLE taken (rowid, _rowid_, oid);
  CREATE TABLE former (id INTEGER PRIMARY KEY, was TEXT);
  CREATE TABLE computed (id INTEGER PRIMARY KEY, n, twice AS (n * 2));
  CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, v);
  CREATE TABLE cased (code TEXT COLLATE NOCASE NOT NULL, PRIMARY KEY (code COLLATE BINARY));
  CREATE TABLE one (v TEXT);
  CREATE TABLE loose (code TEXT PRIMARY KEY, v);
  CREATE TABLE unindexed (bookId INTEGER, v TEXT);
  CREATE VIRTUAL TABLE search USING fts5(body);
  CREATE VIEW cheap AS SELECT id, title, price FROM book WHERE price < 3 ORDER BY title;
  CREATE VIEW named(number, label) AS SELECT id, name FROM author;
  CREATE VIEW every(id, name, country) AS SELECT * FROM author;
  CREATE VIEW feed(kind, at, text) AS SELECT 'book', id, title FROM book UNION ALL
    SELECT 'former', id, was FROM former;
  CREATE VIEW mix AS SELECT 'book' AS kind, title AS text FROM book UNION ALL SELECT 'n', n FROM computed;
  CREATE VIEW halves AS SELECT id AS n FROM book UNION ALL SELECT half FROM halved;
  CREATE TABLE halved (id INTEGER PRIMARY KEY, half REAL);
  CREATE VIEW perGenre AS SELECT genre, count(*) AS n FROM book GROUP BY genre;
  CREATE VIEW signed AS
    SELECT book.id, title, author.name FROM book LEFT JOIN author ON author.id = authorId;
  CREATE VIEW codes AS SELECT code FROM genre WHERE label <> 'l3';
  CREATE VIEW ranked AS
    SELECT id, name, (SELECT count(*) FROM book WHERE authorId = author.id) AS rank FROM author;
  CREATE VIEW written AS
    SELECT id, name FROM author WHERE id IN (SELECT authorId FROM book WHERE genre > 'g');
  """

/// What a definition means under that schema, and what else is to be there.
func analyzed(_ definition: QueryDefinition, _ more: String = "") throws -> Query {
  try DatabaseQueue().write { db in
    try db.execute(sql: trackedSchema + more)
    return try Query.analyzed(definition, in: db)
  }
}

func tracking(
  _ sql: String, section: String? = nil, key: [String]? = nil, parameters: [String] = []
) throws -> Tracking {
  try analyzed(
    QueryDefinition(
      name: "q", form: .sql(sql), key: key, section: section,
      parameters: parameters.map { QueryParameter(name: $0, type: .integer) })
  ).tracking
}

/// A SELECT runs again, and its reason begins like this.
func expectRefetch(
  _ sql: String, because reason: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let tracking = try tracking(sql)
  #expect(tracking.mode == .refetch, sourceLocation: sourceLocation)
  #expect(
    tracking.reason.hasPrefix(reason), "\(tracking.reason)", sourceLocation: sourceLocation)
}

/// The statement that is made of a SELECT is followed, and returns the same.
func expectFollowed(_ sql: String) throws {
  try DatabaseQueue().write { db in
    try db.execute(sql: trackedSchema)
    for id in 1...12 {
      try db.execute(
        sql: """
          INSERT INTO author VALUES (\(id), 'a\(id % 5)', char(120 + \(id % 3)));
          INSERT INTO former VALUES (\(2 * id), 'b\(id)');
          INSERT INTO book VALUES
            (\(id), \(id % 4 + 1), 'a\(id % 7)', \(id % 6), 'g\(id % 4)', 'f');
          INSERT INTO genre VALUES ('g\(id)', 'l\(id)', 'a\(id)');
          INSERT INTO pair VALUES (\(id), 2, \(id));
          INSERT INTO computed VALUES (\(id), \(-id));
          INSERT INTO loose VALUES (\(id % 3 == 0 ? "NULL" : "'g\(id)'"), 'l\(id % 2)');
          INSERT INTO falling VALUES (\(id % 3 == 0 ? "NULL" : "\(id)"), 'f\(id % 2)');
          INSERT INTO cased VALUES (char(64 + \(id / 2) + \(id % 2 * 32)));
          """)
    }
    let query = try Query.analyzed(QueryDefinition(name: "q", form: .sql(sql)), in: db)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    let count = query.layout.columns.count
    let made = try Row.fetchAll(db, sql: query.sql).map { Array($0.databaseValues.prefix(count)) }
    let written = try Row.fetchAll(db, sql: sql).map { Array($0.databaseValues) }
    #expect(!made.isEmpty || sql.contains("'a;%'") || sql.contains("= (1, 2)"))
    #expect(made.map(\.description).sorted() == written.map(\.description).sorted())
  }
}
