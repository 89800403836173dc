import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

private let schema = """
  CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE player (
    id INTEGER PRIMARY KEY, name TEXT, team TEXT, score REAL, country TEXT COLLATE NOCASE);
  CREATE TABLE pair (a TEXT, b INT, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE TABLE loose (code TEXT PRIMARY KEY, v);
  CREATE TABLE bare (x, y);
  CREATE VIEW best AS SELECT id AS number, name FROM player WHERE score > 10;
  """

private func analyze(_ definition: QueryDefinition) throws -> Query {
  try DatabaseQueue().write { db in
    try db.execute(sql: schema)
    return try Query.analyzed(definition, in: db)
  }
}

private func problems(of definition: QueryDefinition) throws -> [QueryProblem] {
  do {
    _ = try analyze(definition)
    return []
  } catch let problems as QueryProblems {
    return problems.problems
  }
}

@Suite struct `Analysis of declared queries` {
  @Test func `the primary key is the key, and ends the order`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q", form: .declared(.init(table: "player", fields: ["name"], order: ["name DESC"])),
        section: "team"))
    #expect(query.layout.columns == ["name"])
    #expect(query.layout.keyNames == ["id"])
    #expect(query.layout.keyIsUnique)
    #expect(query.layout.columnCount == 3)
    #expect(query.sql.contains("ORDER BY 3, 1 DESC, 2 DESC"))
    #expect(
      query.dependencies == [TableDependency(table: "player", columns: ["id", "name", "team"])])
  }

  @Test func `a visible key column is not fetched twice`() throws {
    let query = try analyze(QueryDefinition(name: "q", form: .declared(.init(table: "pair"))))
    #expect(query.layout.columns == ["a", "b", "v"])
    #expect(query.layout.key == [0, 1])
    #expect(query.layout.columnCount == 3)
  }

  @Test func `a key that SQLite lets be NULL is not taken for unique`() throws {
    let query = try analyze(QueryDefinition(name: "q", form: .declared(.init(table: "loose"))))
    #expect(query.layout.keyNames == ["code"])
    #expect(!query.layout.keyIsUnique)
  }

  @Test func `a table without a primary key is identified by its rowid`() throws {
    let query = try analyze(QueryDefinition(name: "q", form: .declared(.init(table: "bare"))))
    #expect(query.layout.keyNames == ["rowid"])
    #expect(query.layout.key == [2])
  }

  @Test func `a view is identified by the primary key that it shows`() throws {
    let query = try analyze(
      QueryDefinition(name: "q", form: .declared(.init(table: "best", fields: ["name"]))))
    #expect(query.layout.keyNames == ["number"])
    #expect(query.layout.key == [1])
  }

  @Test func `groups are identified by what they are grouped by`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q",
        form: .declared(
          .init(table: "player", fields: ["team", "count(*) AS n"], groupBy: ["team"]))))
    #expect(query.layout.key == [0])
  }

  @Test func `a table that only USING looks at is one that it reads`() throws {
    let sql = "SELECT count(*) AS n FROM former LEFT JOIN book USING (id) GROUP BY genre"
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    #expect(Set(query.tables) == ["former", "book"])
  }

  @Test func `an aggregate of the whole table is one record`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q", form: .declared(.init(table: "player", fields: ["count(*) AS n"]))))
    #expect(query.layout.key == [])
    #expect(query.layout.columnCount == 1)
  }

  @Test func `sections under a collation other than BINARY are told apart by their bytes`() throws {
    let query = try analyze(
      QueryDefinition(name: "q", form: .declared(.init(table: "player")), section: "country"))
    #expect(query.sql.contains("ORDER BY 5, 5 COLLATE BINARY, 1"))
  }

  @Test func `a section may be a field's alias`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q",
        form: .declared(
          .init(table: "player", fields: ["id", "upper(substr(name, 1, 1)) AS initial"])),
        section: "initial"))
    #expect(query.layout.section == 1)
  }

  @Test func `a comment at the end of an expression hides nothing`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q", form: .declared(.init(table: "player", predicate: "score > 1 -- the good ones")),
        section: "team -- by team"))
    #expect(query.layout.section == 5)
  }

  @Test func `every wrong part is found, with the words that would be right`() throws {
    let found = try problems(
      of: QueryDefinition(
        name: "q",
        form: .declared(
          .init(table: "player", predicate: "scor > 1", order: ["name", "teem DESC"])),
        section: "(", parameters: [QueryParameter(name: "unused", type: .text)]))
    #expect(found.map(\.part) == [.predicate, .ordering(1), .section])
    #expect(found[0].unknownWord == "scor")
    #expect(found[0].knownWords.contains("score"))
    #expect(found[1].unknownWord == "teem")
  }

  @Test func `an unknown table is refused with the tables there are`() throws {
    let found = try problems(
      of: QueryDefinition(name: "q", form: .declared(.init(table: "playr"))))
    #expect(found.map(\.part) == [.table])
    #expect(found.first?.knownWords.contains("player") == true)
  }
}

@Suite struct `Analysis of SQL queries` {
  @Test func `the key comes from the columns' origins`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q",
        form: .sql("SELECT name, id AS number FROM (SELECT * FROM player) ORDER BY name;")))
    #expect(query.layout.key == [1])
    #expect(query.layout.keyNames == ["number"])
    #expect(query.sql.hasSuffix("ORDER BY 1, 2"))
  }

  @Test func `a statement over one table is identified by a key that it need not show`() throws {
    let query = try analyze(QueryDefinition(name: "q", form: .sql("SELECT name FROM player")))
    #expect(query.layout.key == [1])
    #expect(query.layout.keyNames == ["id"])
  }

  @Test func `a statement whose rows are no rows of tables, and shows no key, has none`() throws {
    let query = try analyze(
      QueryDefinition(name: "q", form: .sql("SELECT name FROM player UNION SELECT 'x'")))
    #expect(query.layout.key == nil)
  }

  @Test func `several tables' keys are one key together`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q",
        form: .sql("SELECT p.id AS p, t.id AS t FROM player p JOIN team t ON t.name = p.team")))
    #expect(query.layout.keyNames == ["p", "t"])
  }

  @Test func `a declared key must be columns of the result`() throws {
    let found = try problems(
      of: QueryDefinition(name: "q", form: .sql("SELECT name FROM player"), key: ["nam"]))
    #expect(found.map(\.part) == [.key(0)])
    #expect(found.first?.knownWords == ["name"])
  }

  @Test(arguments: [
    "DELETE FROM player", "SELECT 1; SELECT 2", "", "PRAGMA user_version = 3",
    "INSERT INTO bare VALUES (1, 2) RETURNING x",
  ])
  func `what is not a single SELECT is refused`(sql: String) throws {
    #expect(try problems(of: QueryDefinition(name: "q", form: .sql(sql))).count == 1)
  }

  @Test func `two columns of one name are refused`() throws {
    let found = try problems(
      of: QueryDefinition(name: "q", form: .sql("SELECT name, team AS name FROM player")))
    #expect(found.first?.message == "two result columns are named name")
  }

  @Test func `parameters are declared and used, or refused`() throws {
    let found = try problems(
      of: QueryDefinition(
        name: "q", form: .sql("SELECT id FROM player WHERE team = :team AND score > ?"),
        parameters: [QueryParameter(name: "tem", type: .text)]))
    #expect(found.map(\.part) == [.sql, .sql, .parameter("tem")])
    #expect(found.map(\.kind) == [.unnamedParameter, .undeclaredParameter, .other])
    #expect(found[1].unknownWord == "team")
  }
}
