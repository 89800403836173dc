import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of window functions of groups` {
  private static let followed = [
    """
    SELECT genre, authorId, sum(price) AS total, rank() OVER (PARTITION BY genre ORDER BY sum(price) DESC) AS place
    FROM book GROUP BY genre, authorId ORDER BY genre, place
    """,
    """
    SELECT genre, authorId, count(*) * 100.0 / sum(count(*)) OVER (PARTITION BY authorId) AS share FROM book
    GROUP BY authorId, genre HAVING count(*) > 0
    """,
    """
    WITH s AS (SELECT genre, authorId, sum(price) AS total FROM book GROUP BY genre, authorId),
      r AS (SELECT *, row_number() OVER (PARTITION BY genre ORDER BY total DESC) AS place FROM s)
    SELECT authorId, place FROM r WHERE place <= 3 ORDER BY genre, place
    """,
    """
    SELECT * FROM (
      SELECT genre, substr(title, 1, 1) AS letter, count(*) AS most,
        first_value(count(*)) OVER (PARTITION BY genre ORDER BY count(*), substr(title, 1, 1)) AS first
      FROM book GROUP BY genre, substr(title, 1, 1))
    WHERE most >= first
    """,
    """
    SELECT genre, rank() OVER (PARTITION BY genre) AS n FROM book GROUP BY genre
    """,
    """
    SELECT author.id, name, genre, count(*) AS n, lag(count(*)) OVER (PARTITION BY author.id ORDER BY genre) AS before
    FROM book JOIN author ON author.id = authorId GROUP BY author.id, genre
    """,
  ]

  @Test func `says by what key equal groups come, where none is written`() throws {
    let sql = """
      SELECT genre, authorId, row_number() OVER (PARTITION BY genre ORDER BY count(*) DESC) AS place FROM book
      GROUP BY authorId, genre
      """
    try expectFollowed(sql)
    #expect(try tracking(sql).reason.hasSuffix("come in the order of authorId, genre"))
  }

  @Test(arguments: followed)
  func `is row by row where they are partitioned by what they are grouped by`(sql: String) throws {
    try expectFollowed(sql)
    #expect(try tracking(sql).reason.contains("lead to their partitions, which are read again"))
  }

  @Test(arguments: [
    (
      """
      SELECT name, country, count(*) AS n, rank() OVER (PARTITION BY name ORDER BY count(*)) AS place
      FROM author GROUP BY name, country
      """, "it groups by name under the collation NOCASE"
    ),
    (
      """
      SELECT * FROM (SELECT genre, rank() OVER (ORDER BY count(*)) AS place FROM book GROUP BY genre) WHERE place < 3
      """, "a window is not partitioned by what is grouped by"
    ),
    (
      """
      SELECT genre, title, authorId, count(*) AS n, rank() OVER (PARTITION BY genre ORDER BY count(*)) AS place
      FROM book GROUP BY genre, authorId
      """, "title may have several values in a group"
    ),
  ])
  func `is not where more is asked`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }
}
