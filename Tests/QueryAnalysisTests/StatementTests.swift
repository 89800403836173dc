import GRDB
import Testing

@testable import QueryAnalysis

private func problems(of definition: QueryDefinition, in db: Database) -> [QueryProblem] {
  do {
    _ = try Query.analyzed(definition, in: db)
    return []
  } catch {
    return (error as? QueryProblems)?.problems ?? []
  }
}

private func withDatabase<T>(_ body: (Database) throws -> T) throws -> T {
  try DatabaseQueue().write { db in
    try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score REAL)")
    try db.execute(sql: "PRAGMA cache_size = 1234")
    return try body(db)
  }
}

@Suite struct `The SQL of a query` {
  @Test(arguments: [
    "SELECT id FROM player", "select 1", "VALUES (1), (2)", "-- why\n/* ; */ SELECT 1;",
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x", "SELECT id FROM player;; -- the end",
    "SELECT ';' AS a, id AS \";\" FROM player",
  ])
  func `is one SELECT`(sql: String) throws {
    try withDatabase { db in
      #expect(problems(of: QueryDefinition(name: "q", form: .sql(sql)), in: db).isEmpty)
    }
  }

  @Test(arguments: [
    ("EXPLAIN SELECT * FROM player", "no SELECT"),
    ("explain query plan SELECT * FROM player", "no SELECT"),
    ("PRAGMA cache_size = 99", "no SELECT"),
    ("/* SELECT */ -- x\n;PRAGMA cache_size = 99", "no SELECT"),
    ("-- nothing", "is empty"), ("", "is empty"), ("ATTACH ':memory:' AS x", "no SELECT"),
    ("SELECT 1; PRAGMA cache_size = 99", "more than one statement"),
    // For SQLite a string of Tcl's kind is a parameter's name, and so no string begins here.
    ("SELECT $a('); PRAGMA cache_size = 99; SELECT '')", "more than one statement"),
    ("SELECT id FROM player\0; DELETE FROM player", "NUL"),
    ("WITH x AS (SELECT 1) DELETE FROM player RETURNING id", "does not return records"),
    ("SELECT fts3_tokenizer('simple')", "tells addresses"),
    ("SELECT \"FTS3_Tokenizer\" ('simple', x'4141414141414141')", "tells addresses"),
  ])
  func `is nothing else, and nothing else runs`(sql: String, message: String) throws {
    let definitions = [
      QueryDefinition(name: "q", form: .sql(sql)),
      QueryDefinition(
        name: "q", form: .declared(.init(table: "player")),
        alongside: [.init(name: "a", sql: sql)]),
    ]
    for definition in definitions {
      try withDatabase { db in
        let found = problems(of: definition, in: db)
        #expect(found.count == 1)
        #expect(found.first?.message.contains(message) == true, "\(found)")
        let cacheSize = try Int.fetchOne(db, sql: "PRAGMA cache_size")
        #expect(cacheSize == 1234)
      }
    }
  }
}

@Suite struct `A piece of SQL in a query` {
  private typealias Declaration = QueryDefinition.Declaration

  @Test(arguments: [
    "1) UNION SELECT (1", "1); PRAGMA cache_size = 99; --", "id > 1;", "id > 'x", "(id", "id /*",
    "id)", "id FROM player UNION SELECT id", "id LIMIT 1", "id ORDER BY id", "[id", "id\0",
  ])
  func `does not leave its place`(text: String) throws {
    var declarations: [(part: QueryPart, declaration: QueryDefinition)] = [
      (.section, QueryDefinition(name: "q", form: .sql("SELECT id FROM player"), section: text))
    ]
    for (part, declaration) in [
      (QueryPart.predicate, Declaration(table: "player", predicate: text)),
      (.field(0), Declaration(table: "player", fields: [text])),
      (.ordering(0), Declaration(table: "player", order: [text])),
      (.grouping(0), Declaration(table: "player", groupBy: [text])),
    ] {
      declarations.append((part, QueryDefinition(name: "q", form: .declared(declaration))))
    }
    for (part, definition) in declarations {
      try withDatabase { db in
        let found = problems(of: definition, in: db)
        #expect(found.map(\.part) == [part], "\(found)")
        #expect(found.allSatisfy { !$0.mend.isEmpty })
        let cacheSize = try Int.fetchOne(db, sql: "PRAGMA cache_size")
        #expect(cacheSize == 1234)
      }
    }
  }

  @Test(arguments: [
    "id IS NOT DISTINCT FROM 1", "id IN (SELECT id FROM player LIMIT 1) -- (", "name = ';'",
    "CASE WHEN id > 1 THEN 2 END /* ) */", "\"order\" = 1",
  ])
  func `may be any expression`(text: String) {
    #expect(SQLFragment.flaw(text)?.message == nil)
  }
}
