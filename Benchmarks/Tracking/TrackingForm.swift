/// A query of one form, and a commit of one row that concerns it.
struct TrackingForm {
  let name: String
  /// The query up to where its last WHERE can be continued.
  let select: String
  /// What follows that WHERE.
  var rest = ""
  let change: String
  /// How many records of the result the change concerns.
  var records = 1
  /// The condition that makes the query run again, and changes nothing else.
  var again = "(SELECT 1)"
  /// What stands before that.
  var conjunction = "AND"
  /// Beyond so many it is left out: SQLite takes a square of them for the whole.
  var mostRows = Int.max

  var maintained: String { select + " " + rest }
  var refetched: String { "\(select) \(conjunction) \(again) \(rest)" }
}

extension TrackingForm {
  /// The list of one table, with a commit that changes so many of its rows.
  static func plain(changing records: Int = 1) -> TrackingForm {
    TrackingForm(
      name: "one table", select: "SELECT * FROM player WHERE 1", rest: "ORDER BY name",
      change: "UPDATE player SET score = score + 1 WHERE id BETWEEN 500 AND \(499 + records)",
      records: records)
  }

  /// In the order of what users write.
  static let all = [plain()] + joins + subqueries + groups + compounds + others

  private static let score = "UPDATE player SET score = score + 1 WHERE id = 500"
  private static let club = "UPDATE player SET clubId = 1 + (clubId + 1) % 100 WHERE id = 500"
  private static let home = "UPDATE player SET homeId = 1 + (homeId + 1) % 100 WHERE id = 500"
  private static let title = "UPDATE club SET title = title || '+' WHERE id = 50"

  private static let joins = [
    TrackingForm(
      name: "window of 50", select: "SELECT * FROM player WHERE 1",
      rest: "ORDER BY score DESC, name LIMIT 50", change: score),
    TrackingForm(
      name: "n:1 join, main table",
      select: "SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.clubId WHERE 1",
      rest: "ORDER BY p.name", change: "UPDATE player SET name = name || '+' WHERE id = 500"),
    TrackingForm(
      name: "n:1 join, other table (10 players a club)",
      select: "SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.clubId WHERE 1",
      rest: "ORDER BY p.name", change: title, records: 10),
    TrackingForm(
      name: "n:1 join without an index, main table",
      select: "SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.homeId WHERE 1",
      rest: "ORDER BY p.name", change: home),
    TrackingForm(
      name: "n:1 join without an index, other table (10 players a club)",
      select: "SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.homeId WHERE 1",
      rest: "ORDER BY p.name", change: title, records: 10),
    TrackingForm(
      name: "FULL JOIN",
      select: """
        SELECT c.id, p.id AS player, p.name FROM club c FULL JOIN player p ON p.clubId = c.id WHERE 1
        """, rest: "ORDER BY p.name", change: "UPDATE player SET name = name || '+' WHERE id = 500"),
    TrackingForm(
      name: "LEFT JOIN, a condition on its table",
      select: """
        SELECT p.id, p.name FROM player p LEFT JOIN club c ON c.id = p.clubId
        WHERE coalesce(c.title, '') <> 'x'
        """, rest: "ORDER BY p.name", change: score),
    TrackingForm(
      name: "a view of a join",
      select: "SELECT id, name, title FROM member WHERE title <> 'x'", rest: "ORDER BY name",
      change: "UPDATE player SET name = name || '+' WHERE id = 500"),
  ]

  private static let subqueries = [
    TrackingForm(
      name: "count in a subquery (10 rows each)",
      select: """
        SELECT id, title, (SELECT count(*) FROM player WHERE clubId = club.id AND score > 10) AS n
        FROM club WHERE 1
        """, rest: "ORDER BY n DESC, title", change: club),
    TrackingForm(
      name: "count in a subquery without an index (10 rows each)",
      select: """
        SELECT id, title, (SELECT count(*) FROM player WHERE homeId = club.id AND score > 10) AS n
        FROM club WHERE 1
        """, rest: "ORDER BY n DESC, title", change: home, records: 2, mostRows: 10_000),
    TrackingForm(
      name: "sums in a subquery, for 40 rows",
      select: """
        SELECT id, title, (SELECT sum(score) FROM player WHERE leagueId = league.id) AS total
        FROM league WHERE 1
        """, rest: "ORDER BY total DESC, title", change: score),
    TrackingForm(
      name: "IN (SELECT …), main table",
      select: "SELECT * FROM player WHERE clubId IN (SELECT id FROM club WHERE title <> 'x')",
      rest: "ORDER BY name", change: score),
    TrackingForm(
      name: "IN (SELECT …), what is in the list (10 players a club)",
      select: """
        SELECT * FROM player WHERE clubId IN (SELECT id FROM club WHERE title NOT LIKE '%+')
        """,
      rest: "ORDER BY name",
      change: """
        UPDATE club SET title = CASE WHEN title LIKE '%+' THEN 'x' ELSE 'y+' END WHERE id = 50
        """, records: 10),
    TrackingForm(
      name: "JSON of a subquery's rows (10 each)",
      select: """
        SELECT id, title, (SELECT json_group_array(name) FROM player WHERE clubId = club.id) AS players
        FROM club WHERE 1
        """, rest: "ORDER BY title", change: "UPDATE player SET name = name || '+' WHERE id = 500"),
    TrackingForm(
      name: "one value for all, of another table",
      select: "SELECT * FROM player WHERE score >= (SELECT min(id) FROM club)",
      rest: "ORDER BY name",
      change: score),
    TrackingForm(
      name: "one value for all, of all rows",
      select: "SELECT * FROM player WHERE homeId >= (SELECT min(homeId) FROM player)",
      rest: "ORDER BY name", change: score),
    TrackingForm(
      name: "one list for all",
      select: """
        SELECT * FROM player WHERE clubId IN (
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
          SELECT id FROM club WHERE id IN (SELECT i FROM n))
        """, rest: "ORDER BY name", change: score),
    TrackingForm(
      name: "the greatest of each group (10 rows each)",
      select: """
        SELECT * FROM player WHERE id IN (SELECT max(id) FROM player WHERE score > 0 GROUP BY clubId)
        """, rest: "ORDER BY name",
      change: "UPDATE player SET name = name || '+' WHERE id = (SELECT max(id) FROM player)"),
    TrackingForm(
      name: "each group beside its greatest (10 rows each)",
      select: """
        SELECT c.id, c.title, p.name FROM club c
        LEFT JOIN player p ON p.id = (SELECT max(o.id) FROM player o WHERE o.clubId = c.id) WHERE 1
        """, rest: "ORDER BY c.id",
      change: "UPDATE player SET name = name || '+' WHERE id = (SELECT max(id) FROM player)"),
    TrackingForm(
      name: "groups that show their greatest row (10 rows each)",
      select: "SELECT clubId, max(id), name FROM player WHERE score > 0",
      rest: "GROUP BY clubId ORDER BY clubId",
      change: "UPDATE player SET name = name || '+' WHERE id = (SELECT max(id) FROM player)"),
    TrackingForm(
      name: "the greatest row of what is joined (10 rows each)",
      select:
        "SELECT c.id, c.title, max(p.id), p.name FROM club c JOIN player p ON p.clubId = c.id WHERE 1",
      rest: "GROUP BY c.id ORDER BY c.id",
      change: "UPDATE player SET name = name || '+' WHERE id = (SELECT max(id) FROM player)"),
    TrackingForm(
      name: "EXCEPT (10 rows each)",
      select: "SELECT id FROM club EXCEPT SELECT clubId FROM player WHERE score < 0",
      change: "UPDATE player SET score = -score - 1 WHERE id = 500"),
    TrackingForm(
      name: "NOT EXISTS, of columns that may be NULL",
      select: """
        SELECT * FROM player p WHERE NOT EXISTS (
          SELECT 1 FROM player q WHERE q.clubId = p.clubId AND q.score > p.score)
        """, rest: "ORDER BY name", change: score),
  ]

  private static let groups = [
    TrackingForm(
      name: "groups by another table's key",
      select: """
        SELECT c.id, c.title, count(p.id) AS n FROM club c LEFT JOIN player p ON p.clubId = c.id
        WHERE 1
        """, rest: "GROUP BY c.id ORDER BY n DESC, c.title", change: club),
    TrackingForm(
      name: "groups by a column (10 rows each)",
      select: "SELECT clubId, count(*) AS n, sum(score) AS total FROM player WHERE 1",
      rest: "GROUP BY clubId ORDER BY total DESC", change: score),
    TrackingForm(
      name: "groups by a column without an index (10 rows each)",
      select: "SELECT homeId, count(*) AS n, sum(score) AS total FROM player WHERE 1",
      rest: "GROUP BY homeId ORDER BY total DESC", change: score),
    TrackingForm(
      name: "groups by a column without an index, another group",
      select: "SELECT homeId, count(*) AS n, sum(score) AS total FROM player WHERE 1",
      rest: "GROUP BY homeId ORDER BY total DESC", change: home, records: 2),
    TrackingForm(
      name: "40 groups",
      select: """
        SELECT team, count(*) AS n, sum(score) AS total, max(score) AS best FROM player WHERE 1
        """, rest: "GROUP BY team ORDER BY total DESC", change: score),
    TrackingForm(
      name: "40 groups by another table's key",
      select: """
        SELECT l.id, l.title, count(p.id) AS n, sum(p.score) AS total FROM league l
        LEFT JOIN player p ON p.leagueId = l.id WHERE 1
        """, rest: "GROUP BY l.id ORDER BY total DESC, l.title", change: score),
    TrackingForm(
      name: "groups by an expression",
      select: "SELECT substr(email, 7, 5) AS part, count(*) AS n FROM player WHERE 1",
      rest: "GROUP BY substr(email, 7, 5) ORDER BY part",
      change: """
        UPDATE player SET email =
          CASE WHEN email LIKE 'player9%' THEN 'player500@x' ELSE 'player900@x' END WHERE id = 500
        """),
    TrackingForm(
      name: "groups of a view",
      select: "SELECT clubId, total FROM standing WHERE total > 0", rest: "ORDER BY total DESC",
      change: score),
    TrackingForm(
      name: "rows joined with groups of a view (10 rows each)",
      select: """
        SELECT c.id, c.title, s.total FROM club c JOIN standing s ON s.clubId = c.id WHERE 1
        """, rest: "ORDER BY s.total DESC, c.title", change: score),
    TrackingForm(
      name: "DISTINCT", select: "SELECT DISTINCT clubId FROM player WHERE score > 10",
      rest: "ORDER BY clubId", change: club),
    TrackingForm(
      name: "aggregates of all rows",
      select: "SELECT count(*) AS n, sum(score) AS total, max(score) AS best FROM player WHERE 1",
      change: score),
    TrackingForm(
      name: "window function (10 rows a partition)",
      select: """
        SELECT id, name, rank() OVER (PARTITION BY clubId ORDER BY score DESC) AS place
        FROM player WHERE 1
        """, rest: "ORDER BY name", change: score, records: 10),
    TrackingForm(
      name: "groups with their places in a partition (10 rows each)",
      select: """
        SELECT clubId, homeId, sum(score) AS total,
          rank() OVER (PARTITION BY clubId ORDER BY sum(score) DESC) AS place
        FROM player WHERE 1
        """, rest: "GROUP BY clubId, homeId ORDER BY clubId, place", change: score, records: 10),
    TrackingForm(
      name: "the first of each partition (10 rows each)",
      select: """
        SELECT id, name, score FROM (
          SELECT *, row_number() OVER (PARTITION BY clubId ORDER BY score DESC, id) AS place FROM player)
        WHERE place = 1
        """, rest: "ORDER BY name", change: score),
    TrackingForm(
      name: "the first 10 with their rank",
      select: "SELECT id, name, rank() OVER (ORDER BY name) AS place FROM player",
      rest: "ORDER BY place LIMIT 10",
      change: """
        UPDATE player SET name = CASE WHEN name < '"' THEN substr(name, 2) ELSE '!' || name END
        WHERE id = 500
        """, records: 11, conjunction: "WHERE"),
    TrackingForm(
      name: "those of the first 10 places",
      select: """
        SELECT id, name, place FROM (SELECT id, name, rank() OVER (ORDER BY name) AS place FROM player)
        WHERE place <= 10
        """, rest: "ORDER BY place",
      change: """
        UPDATE player SET name = CASE WHEN name < '"' THEN substr(name, 2) ELSE '!' || name END
        WHERE id = 500
        """, records: 11),
    TrackingForm(
      name: "all with their rank",
      select: "SELECT id, name, rank() OVER (ORDER BY name) AS place FROM player",
      rest: "ORDER BY place", change: "UPDATE player SET name = name || '+' WHERE id = 500",
      conjunction: "WHERE"),
    TrackingForm(
      name: "groups with their places (10 rows each)",
      select: """
        SELECT clubId, sum(score) AS total, rank() OVER (ORDER BY clubId) AS place FROM player WHERE 1
        """, rest: "GROUP BY clubId ORDER BY place", change: score),
    TrackingForm(
      name: "40 groups with their shares of all",
      select: """
        SELECT team, sum(score) AS total, sum(score) * 100.0 / sum(sum(score)) OVER () AS share
        FROM player WHERE 1
        """, rest: "GROUP BY team ORDER BY team", change: score, records: 40),
    TrackingForm(
      name: "40 groups beside the total of all",
      select: """
        SELECT team, sum(score) AS total, sum(score) * 100.0 / (SELECT sum(score) FROM player) AS share
        FROM player WHERE 1
        """, rest: "GROUP BY team ORDER BY team", change: score, records: 40),
    TrackingForm(
      name: "a running sum, the last row",
      select: "SELECT id, sum(homeId) OVER (ORDER BY id) AS total FROM player",
      rest: "ORDER BY id",
      change: "UPDATE player SET homeId = homeId + 1 WHERE id = (SELECT max(id) FROM player)",
      conjunction: "WHERE"),
    TrackingForm(
      name: "who has the most of each group (10 rows each)",
      select: "SELECT clubId, name, max(score) AS best FROM player WHERE 1",
      rest: "GROUP BY clubId ORDER BY best DESC", change: score),
  ]

  private static let compounds = [
    TrackingForm(
      name: "UNION ALL",
      select: """
        SELECT 'club' AS kind, id, title AS name FROM club
        UNION ALL SELECT 'player', id, name FROM player WHERE 1
        """, rest: "ORDER BY name",
      change: "UPDATE player SET name = name || '+' WHERE id = 500"),
    TrackingForm(
      name: "UNION (10 equal rows each)",
      select: "SELECT title FROM club UNION SELECT substr(email, 7, 5) FROM player WHERE 1",
      rest: "ORDER BY 1",
      change:
        "UPDATE player SET email = substr(email, 1, 6) || '+' || substr(email, 7) WHERE id = 500"),
    TrackingForm(
      name: "a view of UNION ALL",
      select: "SELECT kind, id, name FROM feed WHERE id > 0", rest: "ORDER BY name",
      change: "UPDATE player SET name = name || '+' WHERE id = 500"),
  ]

  /// Something that SQLite goes along for each record, and that changes nothing.
  private static let scan = "EXISTS (SELECT 1 FROM club WHERE title IS NOT NULL)"

  private static let others = [
    TrackingForm(
      name: "the last 50 of an index, turned round",
      select: """
        SELECT * FROM (SELECT id, name, score FROM player ORDER BY name DESC, id DESC LIMIT 50) WHERE 1
        """, rest: "ORDER BY name",
      change: "UPDATE player SET score = score + 1 WHERE id = 500", again: scan),
    TrackingForm(
      name: "the first 50 without an index, joined (another row)",
      select: """
        SELECT p.id, p.name, c.title
        FROM (SELECT * FROM player ORDER BY email DESC, id LIMIT 50) p JOIN club c ON c.id = p.clubId
        WHERE 1
        """, rest: "ORDER BY p.name", change: score, again: scan),
    TrackingForm(
      name: "the first 50 without an index, joined (one of them)",
      select: """
        SELECT p.id, p.name, c.title
        FROM (SELECT * FROM player ORDER BY email DESC, id LIMIT 50) p JOIN club c ON c.id = p.clubId
        WHERE 1
        """, rest: "ORDER BY p.name",
      change: """
        UPDATE player SET name = name || '+'
        WHERE id = (SELECT id FROM player ORDER BY email DESC, id LIMIT 1)
        """, again: scan),
    TrackingForm(
      name: "search (1 document in 100)",
      select: """
        SELECT p.id, p.name FROM player p JOIN search ON search.rowid = p.id
        WHERE search MATCH 'needle'
        """, rest: "ORDER BY p.name",
      change: """
        UPDATE search SET body = CASE WHEN body LIKE 'needle%' THEN 'hay' ELSE 'needle' END
        WHERE rowid = 500
        """),
    TrackingForm(
      name: "a parameter's list, json_each",
      select: """
        SELECT * FROM player
        WHERE id IN (SELECT value FROM json_each('[1,2,500,700,900,901,902,903]'))
        """, rest: "ORDER BY name", change: score),
  ]

  /// What the forms need beside the table of players: a club for each ten of them.
  static func prepare(rows: Int) -> String {
    """
    ALTER TABLE player ADD COLUMN clubId INTEGER;
    ALTER TABLE player ADD COLUMN homeId INTEGER;
    ALTER TABLE player ADD COLUMN leagueId INTEGER;
    UPDATE player SET clubId = 1 + id % \(max(1, rows / 10)), homeId = 1 + id % \(max(1, rows / 10)),
      leagueId = 1 + id % 40;
    CREATE INDEX playerByLeague ON player(leagueId);
    CREATE TABLE league (id INTEGER PRIMARY KEY, title TEXT);
    INSERT INTO league SELECT id, 'League ' || id FROM player WHERE id <= 40;
    CREATE INDEX playerByClub ON player(clubId);
    CREATE INDEX playerByPart ON player(substr(email, 7, 5));
    CREATE TABLE club (id INTEGER PRIMARY KEY, title TEXT);
    INSERT INTO club SELECT id, 'Club ' || id FROM player WHERE id <= \(rows / 10);
    CREATE VIEW member AS
      SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.clubId;
    CREATE VIEW feed AS
      SELECT 'club' AS kind, id, title AS name FROM club
      UNION ALL SELECT 'player', id, name FROM player;
    CREATE VIEW standing AS
      SELECT clubId, sum(score) AS total FROM player GROUP BY clubId;
    CREATE VIRTUAL TABLE search USING fts5(body);
    INSERT INTO search(rowid, body)
      SELECT id, CASE WHEN id % 100 THEN 'hay' ELSE 'needle' END || ' ' || name FROM player;
    """
  }
}
