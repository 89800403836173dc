import Testing

@testable import RecordsAPI

@Suite struct `The size of a snapshot` {
  @Test(arguments: [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)",
    "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)",
    "CREATE TABLE t (a, b PRIMARY KEY, c); INSERT INTO t VALUES (1, 2, 3), (NULL, '', x'')",
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, [a "name"]);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO t SELECT i, printf('%.*c', i, char(7)), i * 1e300 FROM n;
    """,
  ])
  func `is that of its event, and not below the least`(schema: String) throws {
    let member = try #require(try FeedFixture(schema).feed.present.members.first)
    let event = member.event(id: nil)
    let whole = try #require(event.whole(atMost: .max)).count
    #expect(event.leastSize <= whole)
    // Asked in any order, it is known as far as it was asked for.
    for limit in [1, whole / 2, whole - 1, whole, whole + 1, 10, .max] {
      #expect(member.size.bytes(upTo: limit) == min(limit, whole))
    }
  }

  @Test func `is exceeded by more than a tenth`() throws {
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)"
    let member = try #require(try FeedFixture(schema).feed.present.members.first)
    let most = member.size.bytes(upTo: .max) * 11 / 10
    #expect(!member.size.isExceeded(by: 0) && !member.size.isExceeded(by: most))
    #expect(member.size.isExceeded(by: most + 1))
    // Of several, each alone may be.
    let both = member.size.bytes(upTo: .max) * 2 * 11 / 10
    #expect(![member.size, member.size].areExceeded(by: both))
    #expect([member.size, member.size].areExceeded(by: both + 1))
  }
}
