import Testing

@testable import QueryAnalysis

@Suite struct `SQL that asks what time it is` {
  @Test(arguments: [
    ("SELECT user FROM s WHERE expires > unixepoch()", "unixepoch()"),
    ("SELECT user FROM s WHERE expires > UnixEpoch ( )", "unixepoch()"),
    ("SELECT user FROM s WHERE expires > \"unixepoch\"()", "unixepoch()"),
    ("SELECT user FROM s WHERE expires > unixepoch('NOW')", "unixepoch('NOW')"),
    ("SELECT user FROM s WHERE expires > unixepoch((\"now\"), '-1 day')", "unixepoch(\"now\")"),
    ("SELECT user FROM s WHERE expires > unixepoch('subsec')", "unixepoch('subsec')"),
    ("SELECT user FROM s WHERE day = date('now', 'localtime')", "date('now')"),
    ("SELECT user, datetime() FROM s", "datetime()"),
    ("SELECT time('now') AS t", "time('now')"),
    ("SELECT julianday() - julianday(begun) < 1", "julianday()"),
    ("SELECT strftime('%s')", "strftime()"),
    ("SELECT strftime('%s', /* it is */ 'now')", "strftime('now')"),
    ("SELECT timediff(expires, 'now')", "timediff('now')"),
    ("SELECT user FROM s WHERE expires > current_timestamp", "CURRENT_TIMESTAMP"),
    ("SELECT (SELECT max(a, (CURRENT_DATE)))", "CURRENT_DATE"),
    ("SELECT datetime(CURRENT_TIME, begun)", "CURRENT_TIME"),
    ("SELECT unixepoch(begun), unixepoch(coalesce(a, (b)), 'auto'), date()", "date()"),
  ])
  func `is known by its words`(sql: String, question: String) {
    #expect(PresentTime.question(in: sql) == question)
  }

  @Test(arguments: [
    "SELECT user, unixepoch(expires_at) AS expires FROM s WHERE token = :token",
    "SELECT datetime(x, 'subsec'), strftime('%s', x), timediff(a, b), julianday(x, 'auto') FROM s",
    "SELECT unixepoch(:now), unixepoch(max(a, 'now')), date(s.now), time(now) FROM s",
    "SELECT s.current_date, a AS current_time FROM s",
    "SELECT \"current_timestamp\", 'unixepoch()', 'now' -- date()",
    "SELECT date, time, datetime FROM s WHERE date IN (1, 2) AND time = 'now'",
    "SELECT my_date(), unixepoch2()",
  ])
  func `is not taken for SQL about other times`(sql: String) {
    #expect(PresentTime.question(in: sql) == nil)
  }
}
