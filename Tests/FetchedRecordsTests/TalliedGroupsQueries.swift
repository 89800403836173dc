// What is tallied, and what changes it.
extension `Groups that are tallied` {
  static let schema = """
    CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE player (
      id INTEGER PRIMARY KEY, club INTEGER, team TEXT, nick TEXT COLLATE NOCASE, score INTEGER, at TEXT);
    CREATE INDEX playerByTeam ON player(team);
    INSERT INTO club VALUES (0, 'Ajax', 'Amsterdam'), (1, 'Bern', 'Bern'), (2, 'Celtic', 'Glasgow'),
      (3, 'Dynamo', 'Berlin');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
      INSERT INTO player SELECT i, i % 4, 'team ' || (i % 5), char(97 + i % 9), i * 7 % 31,
        '2026-0' || (1 + i % 6) || '-01' FROM n;
    """

  static let changes = [
    "UPDATE player SET score = 99 WHERE id = 7", "UPDATE player SET score = NULL WHERE id = 7",
    "DELETE FROM player WHERE score > 28",
    "INSERT INTO player VALUES (500, 1, 'team 9', 'x', 3, '2026-01-02')",
    "UPDATE player SET team = 'team 2', club = 3 WHERE id IN (1, 2, 500)",
    "DELETE FROM player WHERE id = 500", "UPDATE club SET name = 'Bayer' WHERE id = 1",
    "UPDATE player SET team = NULL WHERE team = 'team 3'",
    "UPDATE player SET score = 'many' WHERE id = 11", "UPDATE player SET score = 1.5 WHERE id = 11",
    "UPDATE player SET score = 0.1 WHERE id = 12", "UPDATE player SET score = 4 WHERE id = 12",
    "DELETE FROM player WHERE club = 2",
    "INSERT INTO player VALUES (501, 2, 'team 0', NULL, NULL, NULL)",
    "UPDATE player SET nick = 'A', at = '2026-02-03' WHERE id < 20",
  ]

  static let queries = [
    "SELECT team, count(*) AS n FROM player GROUP BY team ORDER BY n DESC",
    "SELECT team, sum(score) AS total, max(score) AS best, min(score), avg(score) FROM player GROUP BY team",
    "SELECT club, count(*) AS n, max(at) AS last FROM player WHERE score > 4 GROUP BY club HAVING n > 2",
    "SELECT strftime('%Y-%m', at) AS month, count(*) AS n, total(score) FROM player GROUP BY month",
    """
    SELECT player.club, name, upper(city) AS town, count(*) AS n, count(score) * 100 / count(*) AS share
    FROM player JOIN club ON club.id = player.club GROUP BY player.club ORDER BY lower(name)
    """,
    "SELECT DISTINCT team, club FROM player ORDER BY club DESC",
    "SELECT team, count(*) AS n, max(score) AS best FROM player GROUP BY team ORDER BY n DESC, team LIMIT 3",
    "SELECT team, count(score) AS scores, count(*) FILTER (WHERE score > 9) AS good FROM player GROUP BY team",
    "SELECT club, team, max(score) AS best, min(at) AS first FROM player GROUP BY club, team ORDER BY best",
    "WITH p AS (SELECT * FROM player WHERE score < 280) SELECT team, count(*) AS n FROM p GROUP BY team",
  ]

  static let owned = [
    "SELECT id, name, (SELECT count(*) FROM player WHERE player.club = club.id) AS n FROM club ORDER BY n DESC",
    """
    SELECT id, (SELECT max(score) FROM player WHERE club = club.id AND at > '2026-02') AS best,
      (SELECT coalesce(sum(score), -1) FROM player AS p WHERE club.id = p.club) * 2 AS total
    FROM club WHERE (SELECT count(DISTINCT team) FROM player WHERE club = club.id) > 0
    """,
    """
    SELECT club.id, upper(name) AS name, count(player.id) AS n, max(score) AS best, 100 - sum(score) AS rest
    FROM club LEFT JOIN player ON player.club = club.id AND at <> '2026-03-01'
    GROUP BY club.id ORDER BY n DESC, lower(name)
    """,
    """
    SELECT c.*, count(*) FILTER (WHERE score > 5) AS n, min(at) AS first FROM club AS c
    JOIN player AS p ON p.club = c.id WHERE p.score > 2 AND c.city <> 'Berlin' GROUP BY c.id HAVING n > 3
    """,
    """
    SELECT b.name AS town, c.name, count(player.nick) AS n FROM club AS c JOIN club AS b ON b.id = c.id
    LEFT JOIN player ON c.id = player.club GROUP BY c.id
    """,
    // Wherever it stands.
    """
    SELECT c.name, b.city, count(*) AS n, sum(score) AS total FROM player AS p JOIN club AS c ON p.club = c.id
    LEFT JOIN club AS b ON b.id = c.id WHERE c.city <> 'Berlin' AND p.score > 1 GROUP BY c.id
    """,
  ]
}
