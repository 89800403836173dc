import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

@Suite struct `A live search` {
  private static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, at INTEGER);
    CREATE VIRTUAL TABLE text USING fts5(title);
    CREATE TRIGGER postInserted AFTER INSERT ON post BEGIN
      INSERT INTO text (rowid, title) VALUES (new.id, new.title); END;
    CREATE TRIGGER postDeleted AFTER DELETE ON post BEGIN
      DELETE FROM text WHERE rowid = old.id; END;
    CREATE TRIGGER postUpdated AFTER UPDATE OF title ON post BEGIN
      UPDATE text SET title = new.title WHERE rowid = new.id; END;
    INSERT INTO post VALUES (1, 'red house', 3), (2, 'green house', 2), (3, 'green car', 1);
    CREATE TABLE setting (words TEXT);
    INSERT INTO setting VALUES ('green');
    """

  private static func definition(_ sql: String) -> QueryDefinition {
    QueryDefinition(
      name: "q", form: .sql(sql),
      parameters: sql.contains(":q") ? [QueryParameter(name: "q", type: .text)] : [])
  }

  private static func titles(_ watched: Watched) -> [Value] {
    watched.snapshot.results.shown.flatMap(\.records).map { $0[1] }
  }

  @Test(arguments: [
    """
    SELECT post.id, post.title FROM post JOIN text ON text.rowid = post.id
    WHERE text MATCH :q ORDER BY at DESC
    """,
    """
    SELECT id, title FROM post WHERE id IN (SELECT rowid FROM text WHERE text MATCH :q)
    ORDER BY at DESC
    """,
    "SELECT rowid, title FROM text(:q) ORDER BY rowid",
  ])
  func `is read again where a document changed, and not for what is done to the index`(
    sql: String
  ) throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.definition(sql)]))
    let watched = try fixture.open("q", arguments: ["q": .text("house OR tree*")])
    #expect(Self.titles(watched) == [.text("red house"), .text("green house")])
    for change in [
      "UPDATE post SET title = 'treehouse' WHERE id = 3", "INSERT INTO post VALUES (4, 'house', 0)",
      "DELETE FROM post WHERE id = 1",
    ] {
      try fixture.write(change)
      fixture.refresh()
    }
    #expect(
      Self.titles(watched) == [.text("green house"), .text("treehouse"), .text("house")])
    let maintained = fixture.refresher.statistics.maintained
    #expect(maintained == 3)
    for command in ["('optimize')", "('rebuild')", "('integrity-check')"] {
      try fixture.write("INSERT INTO text (text) VALUES \(command)")
      fixture.refresh()
    }
    try fixture.write("INSERT INTO text (text, rank) VALUES ('automerge', 2)")
    fixture.refresh()
    #expect(fixture.refresher.statistics.maintained == maintained)
    #expect(fixture.refresher.statistics.refetches == 0)
  }

  private static let outside = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, at INTEGER);
    INSERT INTO post VALUES (1, 'red house', 3), (2, 'green house', 2), (3, 'green car', 1);
    CREATE VIRTUAL TABLE text USING fts5(title, content = post, content_rowid = id);
    CREATE TRIGGER postInserted AFTER INSERT ON post BEGIN
      INSERT INTO text (rowid, title) VALUES (new.id, new.title); END;
    CREATE TRIGGER postDeleted AFTER DELETE ON post BEGIN
      INSERT INTO text (text, rowid, title) VALUES ('delete', old.id, old.title); END;
    CREATE TRIGGER postUpdated AFTER UPDATE OF title ON post BEGIN
      INSERT INTO text (text, rowid, title) VALUES ('delete', old.id, old.title);
      INSERT INTO text (rowid, title) VALUES (new.id, new.title); END;
    """

  /// Each is the whole of what happens between two refreshes, and what `house` finds then.
  @Test(arguments: [
    [("INSERT INTO text (text) VALUES ('rebuild')", ["red house", "green house"])],
    [
      ("INSERT INTO text (text) VALUES ('rebuild')", ["red house", "green house"]),
      (
        "UPDATE post SET title = 'my house' WHERE id = 3",
        ["red house", "green house", "my house"]
      ),
      ("UPDATE post SET at = 9 WHERE id = 3", ["my house", "red house", "green house"]),
      ("DELETE FROM post WHERE id = 2", ["my house", "red house"]),
      // As many words as before, in the index alone.
      (
        """
        INSERT INTO text (text, rowid, title) VALUES ('delete', 1, 'red house');
        INSERT INTO text (rowid, title) VALUES (1, 'red car')
        """, ["my house"]
      ),
      // The same for one document, beside a change of another.
      (
        """
        INSERT INTO text (text, rowid, title) VALUES ('delete', 1, 'red car');
        INSERT INTO text (rowid, title) VALUES (1, 'red house');
        UPDATE post SET title = 'house' WHERE id = 3
        """, ["house", "red house"]
      ),
      ("INSERT INTO text (text) VALUES ('optimize')", ["house", "red house"]),
      ("INSERT INTO text (text) VALUES ('delete-all')", []),
    ],
    // REPLACE tells no trigger of the row that it takes away, so the index keeps its words.
    [
      ("INSERT INTO text (text) VALUES ('rebuild')", ["red house", "green house"]),
      ("INSERT OR REPLACE INTO post VALUES (1, 'red car', 3)", ["red car", "green house"]),
      (
        """
        UPDATE post SET title = 'old house' WHERE id = 2;
        INSERT INTO text (text) VALUES ('rebuild')
        """, ["old house"]
      ),
    ],
    // Rows that no trigger is told of, and all at once.
    [
      ("INSERT INTO text (text) VALUES ('rebuild')", ["red house", "green house"]),
      (
        """
        DROP TRIGGER postUpdated; UPDATE post SET title = 'red tree' WHERE id = 1;
        UPDATE post SET title = 'green boat' WHERE id = 3
        """, ["red tree", "green house"]
      ),
      (
        """
        INSERT INTO post VALUES (4, 'house', 0);
        INSERT INTO text (text) VALUES ('rebuild')
        """, ["green house", "house"]
      ),
    ],
  ])
  func `in documents of another table sees whatever is written to its index`(
    changes: [(String, [String])]
  ) throws {
    let fixture = try Fixture(
      schema: Self.outside,
      queries: .definitions([
        Self.definition(
          """
          SELECT post.id, post.title FROM post JOIN text ON text.rowid = post.id
          WHERE text MATCH :q ORDER BY at DESC
          """)
      ]))
    let watched = try fixture.open("q", arguments: ["q": .text("house")])
    #expect(Self.titles(watched).isEmpty)
    for (sql, titles) in changes {
      try fixture.write(sql)
      fixture.refresh()
      #expect(Self.titles(watched) == titles.map { .text($0) }, "\(sql)")
    }
    // Nobody reads a trigger that goes.
    #expect(fixture.refresher.statistics.refetches == 0)
  }

  @Test func `runs again where many documents changed and beginnings of words are searched for`()
    throws
  {
    let sql = "SELECT rowid, title FROM text WHERE text MATCH :q"
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.definition(sql)]))
    let word = try fixture.open("q", arguments: ["q": .text("tree")])
    let beginning = try fixture.open("q", arguments: ["q": .text("tre*")])
    try fixture.write("UPDATE post SET title = 'tree' WHERE id = 1")
    fixture.refresh()
    #expect(fixture.refresher.statistics.maintained == 2)
    for id in 11...40 { try fixture.write("INSERT INTO post VALUES (\(id), 'tree', 1)") }
    fixture.refresh()
    #expect(fixture.refresher.statistics.maintained == 3)
    #expect(fixture.refresher.statistics.refetches == 1)
    #expect(Self.titles(word).count == 31)
    #expect(Self.titles(beginning).count == 31)
  }

  @Test func `fails while its words are malformed, and goes on behind that`() throws {
    let sql = """
      SELECT rowid, title FROM text WHERE text MATCH (SELECT max(words) FROM setting) ORDER BY rowid
      """
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.definition(sql)]))
    let watched = try fixture.open("q")
    try fixture.write("UPDATE setting SET words = 'green OR'")
    fixture.refresh()
    guard case .failed(let failure)? = watched.takeEvents().first else {
      Issue.record("no failure was told")
      return
    }
    #expect(failure.detail.contains("fts5: syntax error"))
    try fixture.write("INSERT INTO post VALUES (4, 'red car', 1)")
    fixture.refresh()
    try fixture.write("UPDATE setting SET words = 'red'")
    fixture.refresh()
    #expect(Self.titles(watched) == [.text("red house"), .text("red car")])
  }

  @Test func `with malformed words is refused alone`() throws {
    let sql = "SELECT rowid, title FROM text WHERE text MATCH :q"
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.definition(sql)]))
    for words in ["\"", "", "other : a", "a OR"] {
      #expect(throws: FetchFailure.self) { try fixture.open("q", arguments: ["q": .text(words)]) }
    }
    let watched = try fixture.open("q", arguments: ["q": .text("car")])
    try fixture.write("UPDATE post SET title = 'car' WHERE id = 1")
    fixture.refresh()
    #expect(Self.titles(watched) == [.text("car"), .text("green car")])
    #expect(fixture.refresher.statistics.failures == 0)
  }

  /// The hook by which a writer tells its own changes tells those of the tables behind a virtual one.
  @Test(arguments: Storage.allCases, ["rowid", "rank"])
  func `is seen by a controller of the writer`(storage: Storage, order: String) throws {
    let world = try ControllerWorld(storage, schema: Self.schema)
    let (controller, _) = try world.follow(
      SQLRequest<PlainPlayer>(
        sql: """
          SELECT rowid AS id, title AS name FROM text WHERE text MATCH 'house' ORDER BY \(order), rowid
          """))
    try world.write("INSERT INTO post VALUES (4, 'old house', 0)", settling: controller)
    try world.write("INSERT INTO text (rowid, title) VALUES (9, 'house')", settling: controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id).sorted() == [1, 2, 4, 9])
    }
  }
}
