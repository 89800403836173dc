import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Values that are hardly ever there, and equal others.
@Suite struct `Values that look alike` {
  @Test func `no bytes are one value of UNION, whoever reads them`() throws {
    let (_, statistics) = try Fixture.following(
      "SELECT s FROM t UNION SELECT s FROM u ORDER BY 1",
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT);
        CREATE TABLE u (id INTEGER PRIMARY KEY, s TEXT);
        WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
          INSERT INTO t SELECT i, 's' || i FROM n;
        INSERT INTO t VALUES (1, x''), (2, x'');
        """,
      [
        "INSERT INTO u VALUES (1, 'z')", "DELETE FROM t WHERE id IN (1, 2)",
        "INSERT INTO u VALUES (2, x'')", "INSERT INTO u VALUES (3, '')",
        "DELETE FROM u WHERE id > 1",
      ])
    #expect(statistics.maintained >= 4)
  }

  /// It is REAL in a column of type INTEGER, and equals the integer.
  @Test(arguments: [
    "SELECT k, count(*) AS c FROM t GROUP BY k", "SELECT DISTINCT k FROM t",
    "SELECT k FROM t UNION SELECT k FROM t WHERE id > 3",
  ])
  func `the least integer is one value with the real number that it is`(sql: String) throws {
    let (_, statistics) = try Fixture.following(
      sql,
      schema: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER);
        CREATE INDEX tByK ON t(k);
        WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 210)
          INSERT INTO t SELECT i, i % 70 FROM n;
        """,
      [
        "INSERT INTO t VALUES (0, 501)", "UPDATE t SET k = 502 WHERE id = 0",
        "INSERT INTO t VALUES (1, 500)", "INSERT INTO t VALUES (2, -9.223372036854775808e18)",
        "INSERT INTO t VALUES (500, -9223372036854775808)", "DELETE FROM t WHERE id = 2",
        "UPDATE t SET k = 7 WHERE id = 500", "UPDATE t SET k = 8 WHERE id = 1",
      ])
    // Up to the real number, which makes it run again.
    #expect(statistics.maintained > 0)
  }
}
