import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Groups that are made of what their rows come to, and not read again.
@Suite struct `Groups that are tallied` {
  private func fixture(
    _ sql: String, section: String? = nil, schema: String = schema, followsStatements: Bool = false
  ) throws -> Fixture {
    var limits = RefresherLimits()
    limits.dearGroup = .zero
    if followsStatements { limits.dearStatement = .zero }
    var definition = QueryDefinition(name: "q", form: .sql(sql))
    definition.section = section
    return try Fixture(schema: schema, queries: .definitions([definition]), limits: limits)
  }

  /// Whether the last change was brought in by what rows come to.
  private func isKnown(_ watched: Watched, _ fixture: Fixture) -> Bool {
    fixture.refresher.queue.sync { watched.controller.areGroupsKnown == true }
  }

  /// Commits until what is dear is followed.
  private func begin(_ fixture: Fixture, _ watched: Watched, _ sql: String) throws {
    for score in 50..<55 {
      try fixture.expect(
        watched, toShow: sql, after: "UPDATE player SET score = \(score) WHERE id = 9")
    }
  }

  @Test(arguments: queries) func `are what SQLite returns`(sql: String) throws {
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    let tally = try #require(
      watched.snapshot.query.plan?.tally, "\(watched.snapshot.query.tracking)")
    try begin(fixture, watched, sql)
    #expect(
      fixture.refresher.queue.sync { fixture.refresher.followedRows.count } == tally.rows.count)
    var known = 0
    for change in Self.changes {
      try fixture.expect(watched, toShow: sql, after: change)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    // On a busy machine the rows are not there in a moment.
    #expect(known > 0)
    fixture.refresher.close(watched.controller)
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.isEmpty })
  }

  /// Looked up, or made of what all rows come to.
  @Test(
    arguments: [
      """
      SELECT club, sum(score) AS total, sum(score) * 100.0 / (SELECT sum(score) FROM player) AS share
      FROM player GROUP BY club
      """,
      """
      SELECT team, count(*) * 1.0 / (SELECT count(*) FROM player) AS share, max(score) AS best
      FROM player WHERE club IS NOT NULL GROUP BY team ORDER BY share DESC, team LIMIT 2
      """,
      """
      SELECT club, count(*) AS n FROM player GROUP BY club
      HAVING sum(score) > (SELECT avg(score) FROM player) ORDER BY n DESC, club
      """,
      """
      SELECT city, total(score) / (SELECT max(id) FROM club) AS share
      FROM player JOIN club ON club = club.id GROUP BY city
      """,
    ], [false, true])
  func `show what they come to beside a value for all`(
    sql: String, followsStatements: Bool
  ) throws {
    let fixture = try fixture(sql, followsStatements: followsStatements)
    let watched = try fixture.open("q")
    let plan = try #require(watched.snapshot.query.plan)
    #expect(plan.tally != nil && plan.values.count == 1, "\(watched.snapshot.query.tracking)")
    try begin(fixture, watched, sql)
    var known = 0
    let more = [
      "INSERT INTO club VALUES (50, 'AS', 'Rome')", "DELETE FROM player", "DELETE FROM club",
      "INSERT INTO player SELECT 7, 1, 't', NULL, 2.5, ''",
    ]
    for change in Self.changes + more {
      try fixture.expect(watched, toShow: sql, after: change)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    // On a busy machine the rows are not there in a moment.
    #expect(known > 0)
  }

  @Test func `are those of a row with another key than its rowid`() throws {
    let sql = """
      SELECT name, (SELECT count(*) FROM post WHERE author = account.name) AS n,
        (SELECT max(likes) FROM post AS p WHERE account.name = p.author AND p.likes < 50) AS best
      FROM account ORDER BY n DESC
      """
    let fixture = try fixture(
      sql,
      schema: """
        CREATE TABLE account (name TEXT PRIMARY KEY, city TEXT);
        CREATE TABLE post (id INTEGER PRIMARY KEY, author TEXT, likes INTEGER);
        CREATE INDEX postByAuthor ON post(author);
        INSERT INTO account VALUES ('ann', ''), ('bob', ''), ('1', ''), (NULL, '');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
          INSERT INTO post SELECT i, CASE i % 4 WHEN 0 THEN 'ann' WHEN 1 THEN 'bob' WHEN 2 THEN 1 END, i FROM n;
        """)
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.plan?.owned?.key != nil)
    var known = 0
    for change in (60..<66).map({ "UPDATE post SET likes = \($0) WHERE id = 4" }) + [
      "UPDATE post SET author = 'bob' WHERE likes < 20",
      "UPDATE account SET name = 'eve' WHERE name = 'bob'",
      "UPDATE post SET author = 'eve' WHERE id % 3 = 0", "DELETE FROM account WHERE name = 'ann'",
      "INSERT INTO account VALUES ('ann', 'x'), (NULL, 'y')",
      "UPDATE post SET author = NULL WHERE id = 7",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    #expect(known > 5)
  }

  @Test(arguments: owned) func `are not read for the row that they refer to`(sql: String) throws {
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    let plan = try #require(watched.snapshot.query.plan)
    let owned = try #require(plan.owned, "\(watched.snapshot.query.tracking)")
    try begin(fixture, watched, sql)
    let followed = fixture.refresher.queue.sync { fixture.refresher.followedRows.count }
    #expect(followed == Set(owned.rows.map { "\($0.form)" }).count)
    var known = 0
    let more = [
      "DELETE FROM player", "INSERT INTO player SELECT id, id % 3, 't', NULL, id, '' FROM club",
    ]
    for change in Self.changes + more {
      try fixture.expect(watched, toShow: sql, after: change)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    // On a busy machine the rows are not there in a moment.
    #expect(known > 0)
  }

  @Test(
    arguments: [
      (
        """
        SELECT team, count(DISTINCT club) AS clubs, sum(DISTINCT club) AS sum, max(score) AS best
        FROM player GROUP BY team
        """, 2
      ),
      (
        """
        SELECT club, count(DISTINCT score) AS n, sum(DISTINCT score) AS sum, max(score) AS best, count(*) AS all_
        FROM player GROUP BY club HAVING n > 1 ORDER BY n DESC
        """, 1
      ),
      (
        """
        SELECT name, (SELECT count(DISTINCT team) FROM player WHERE club = club.id AND score > 3) AS n FROM club
        ORDER BY n DESC
        """, 1
      ),
      (
        """
        SELECT city, count(DISTINCT team) AS n, total(DISTINCT score) AS sum
        FROM club LEFT JOIN player ON club = club.id GROUP BY club.id
        """, 2
      ),
    ])
  func `are what SQLite returns of values that count once`(sql: String, rows: Int) throws {
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    let plan = try #require(watched.snapshot.query.plan)
    #expect(plan.tallied?.count == rows, "\(watched.snapshot.query.tracking)")
    try begin(fixture, watched, sql)
    var known = 0
    let more = [
      "UPDATE player SET score = 3 WHERE id IN (20, 21, 24)",
      "UPDATE player SET team = 'team 1' WHERE id % 5 = 2",
      "UPDATE player SET club = 1 WHERE id < 50",
      "DELETE FROM player WHERE id % 4 = 3", "DELETE FROM player WHERE team = 'team 1'",
    ]
    for change in Self.changes + more {
      try fixture.expect(watched, toShow: sql, after: change)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    #expect(known > 3)
  }

  /// 1 and 1.0 count once together, and which of them is added is SQLite's choice.
  @Test func `are what SQLite returns of values that are equal, and not the same`() throws {
    let sql = """
      SELECT club, count(DISTINCT value) AS n, sum(DISTINCT value) AS sum, avg(DISTINCT value) AS average,
        total(DISTINCT value + 0) AS total, count(*) AS all_ FROM mark GROUP BY club
      """
    let fixture = try fixture(
      sql,
      schema: """
        CREATE TABLE mark (id INTEGER PRIMARY KEY, club INTEGER, value);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
          INSERT INTO mark SELECT i, i % 4, CASE i % 4 WHEN 0 THEN i % 3 WHEN 1 THEN i % 3 * 1.0
            WHEN 2 THEN i % 5 * 0.5 WHEN 3 THEN iif(i % 8 = 3, i % 3, i % 3 * 1.0) END FROM n;
        """)
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.plan?.tally?.rows.count == 2)
    var known = 0
    for change in (10..<15).map({ "UPDATE mark SET value = \($0) WHERE id = 4" }) + [
      "UPDATE mark SET value = 12.0 WHERE id = 8", "UPDATE mark SET value = NULL WHERE id = 4",
      "UPDATE mark SET value = 12 WHERE id = 8", "UPDATE mark SET value = NULL WHERE id = 8",
      "UPDATE mark SET value = -0.0 WHERE id IN (1, 2)",
      "UPDATE mark SET value = 0.0 WHERE id IN (1, 5)",
      "UPDATE mark SET value = 7.0 WHERE id = 1", "UPDATE mark SET value = 'x' WHERE id IN (5, 9)",
      "UPDATE mark SET value = 2 WHERE club = 1",
      "UPDATE mark SET value = 9.0 WHERE id IN (3, 7)",
      "UPDATE mark SET value = 9 WHERE id IN (3, 11)", "UPDATE mark SET value = 1 WHERE club = 3",
      "DELETE FROM mark WHERE club = 2", "UPDATE mark SET club = 2 WHERE club = 0",
      "UPDATE mark SET value = 0.1 WHERE id = 12",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    #expect(known > 5)
  }

  /// Of values without a type, where 1 and 1.0 are one group, and 0.0 and -0.0.
  @Test func `are what SQLite returns of groups that have equal values which are not the same`()
    throws
  {
    let sql = "SELECT value, kind, count(*) AS n FROM mark GROUP BY value, kind HAVING n > 1"
    let fixture = try fixture(
      sql,
      schema: """
        CREATE TABLE mark (id INTEGER PRIMARY KEY, kind REAL, value);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
          INSERT INTO mark SELECT i, i % 2, i % 3 FROM n;
        """)
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.plan?.tally != nil)
    var known: [Bool] = []
    for change in (10..<15).map({ "UPDATE mark SET value = \($0) WHERE id = 4" }) + [
      "UPDATE mark SET value = 'x' WHERE id IN (8, 10)",
      "UPDATE mark SET value = 1.0 WHERE id = 8",
      "UPDATE mark SET value = 77.0 WHERE id IN (8, 10)",
      "UPDATE mark SET value = 77 WHERE id IN (12, 14)",
      "UPDATE mark SET value = 2.5 WHERE id IN (8, 10)",
      "UPDATE mark SET value = -0.0 WHERE id IN (8, 10)",
      "UPDATE mark SET value = 0.0 WHERE id IN (8, 2)",
      "UPDATE mark SET value = 1 WHERE id IN (8, 10, 2)", "UPDATE mark SET value = 5 WHERE id = 3",
      "UPDATE mark SET value = value * 1.0", "UPDATE mark SET value = 6.0 WHERE id = 5",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
      known.append(isKnown(watched, fixture))
    }
    #expect(known.contains(true))
  }

  /// More rows change than there are records, from the first commit on.
  @Test(
    arguments: [
      "SELECT club, count(*) AS n, sum(score) AS total FROM player GROUP BY club",
      "SELECT club, sum(score) AS total FROM player GROUP BY club ORDER BY total DESC, club LIMIT 3",
      "SELECT id, (SELECT sum(score) FROM player WHERE club = club.id) AS total FROM club",
      "SELECT city, sum(score) AS total FROM club LEFT JOIN player ON club = club.id GROUP BY club.id",
    ])
  func `may be made of many rows that change`(sql: String) throws {
    let fixture = try fixture(sql)
    try fixture.write(
      """
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
      INSERT INTO player SELECT i, i % 4, 't', NULL, 0, '' FROM n
      """)
    let watched = try fixture.open("q")
    var known: [Bool] = []
    for score in 1...9 {
      try fixture.expect(
        watched, toShow: sql,
        after: "UPDATE player SET score = score + \(score) WHERE id BETWEEN 1000 AND 1099")
      known.append(isKnown(watched, fixture))
    }
    #expect(known.contains(true))
    #expect(!known.prefix(3).contains(true))
  }

  @Test func `share their rows where these are the same`() throws {
    let definitions = ["count(*)", "max(score)", "min(score)"].enumerated().map {
      QueryDefinition(
        name: "q\($0)", form: .sql("SELECT team, \($1) AS v FROM player GROUP BY team"))
    }
    var limits = RefresherLimits()
    limits.dearGroup = .zero
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions(definitions), limits: limits)
    let all = try definitions.map { try fixture.open($0.name) }
    for (definition, watched) in zip(definitions, all) {
      guard case .sql(let sql) = definition.form else { continue }
      try begin(fixture, watched, sql)
    }
    // Those of the extremes are in an order.
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.count } == 2)
  }

  @Test func `are in their sections`() throws {
    let sql = "SELECT club, team, count(*) AS n FROM player GROUP BY club, team ORDER BY club, n"
    let fixture = try fixture(sql, section: "club")
    let watched = try fixture.open("q")
    try begin(fixture, watched, sql)
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
    #expect(watched.snapshot.results.numberOfSections == 4)
  }

  @Test func `are read again where they are many, and small`() throws {
    let sql = "SELECT team, count(*) AS n FROM player GROUP BY team"
    let fixture = try fixture(sql)
    try fixture.write(
      """
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
      INSERT INTO player SELECT i, 1, 'team ' || i, NULL, i, '' FROM n
      """)
    let watched = try fixture.open("q")
    try begin(fixture, watched, sql)
    fixture.refresher.settle()
    #expect(
      fixture.refresher.queue.sync {
        fixture.refresher.followedRows.values.map(\.areThere) == [false]
      })
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
  }

  @Test func `are read again where what their rows come to is not certain`() throws {
    let sql = "SELECT club, sum(score) AS total FROM player GROUP BY club"
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    try fixture.write("UPDATE player SET score = score * 1e30 + 0.1")
    try begin(fixture, watched, sql)
    for score in 1..<8 {
      try fixture.expect(
        watched, toShow: sql, after: "UPDATE player SET score = \(score).3 WHERE id = 9")
    }
    // Nothing is held that is of no use.
    #expect(
      fixture.refresher.queue.sync {
        fixture.refresher.followedRows.values.allSatisfy { !$0.areThere }
      })
  }

  @Test(.enabled(if: Aggregate.addsWithCompensation))
  func `are made of reals where SQLite adds them up with a compensation`() throws {
    let sql = """
      SELECT club, sum(score) AS total, avg(score * 1.1), total(DISTINCT score) FROM player
      GROUP BY club ORDER BY total
      """
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    try fixture.write("UPDATE player SET score = score * 0.1 + 0.01")
    try begin(fixture, watched, sql)
    var known = 0
    for score in 1..<40 {
      try fixture.expect(
        watched, toShow: sql,
        after: """
          UPDATE player SET score = \(score) * 1.37 WHERE id = 9;
          UPDATE player SET score = score * 1.1, club = club + 1 & 3 WHERE id % 40 = \(score)
          """)
      known += isKnown(watched, fixture) ? 1 : 0
    }
    // On a busy machine the rows are not there in a moment.
    #expect(known > 5)
  }

  @Test(arguments: [
    // What several values are equal to under the collation, is not certain.
    "SELECT nick, count(*) AS n FROM player GROUP BY nick",
    "SELECT team, group_concat(nick) AS nicks FROM player GROUP BY team",
    "SELECT team || count(*) AS text FROM player GROUP BY team",
    "SELECT team, (SELECT max(name) FROM club WHERE club.id = min(player.club)) AS c FROM player GROUP BY team",
    // What refers to a row is compared with more than its key.
    "SELECT id, (SELECT count(*) FROM player WHERE club = club.id AND nick < name) AS n FROM club",
    "SELECT id, (SELECT count(*) FROM player WHERE team = name) AS n FROM club",
    // Of a row of NULLs, where none is joined.
    "SELECT club.id, count(*) AS n FROM club LEFT JOIN player ON player.club = club.id GROUP BY club.id",
  ])
  func `are not where more than that makes them`(sql: String) throws {
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.plan?.tallied == nil)
    try begin(fixture, watched, sql)
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
  }
}
