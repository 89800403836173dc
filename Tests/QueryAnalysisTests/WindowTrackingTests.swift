import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of window functions` {
  private static let followed = [
    "SELECT id, title, rank() OVER (PARTITION BY genre ORDER BY price DESC) AS place FROM book",
    "SELECT id, rank() OVER w, count(*) OVER (w) FROM book WINDOW w AS (PARTITION BY genre)",
    """
    SELECT id, row_number() OVER (few ORDER BY title, id) AS n FROM book
    WINDOW few AS (all_of_it), all_of_it AS (PARTITION BY genre)
    """,
    "SELECT id, row_number() OVER (PARTITION BY genre ORDER BY price, id DESC) AS n FROM book",
    "SELECT id FROM book ORDER BY dense_rank() OVER (PARTITION BY genre ORDER BY price), title",
    """
    SELECT id, lag(title) OVER w AS before, lead(title, 2, '-') OVER w AS later,
      first_value(price) OVER w AS least, group_concat(title) OVER w AS titles
    FROM book WINDOW w AS (PARTITION BY authorId ORDER BY id)
    """,
    """
    SELECT id, sum(price) OVER (
        PARTITION BY genre ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS two
    FROM book WHERE price > 1
    """,
    "SELECT id, sum(price) OVER (PARTITION BY genre ORDER BY title) AS s FROM book ORDER BY id LIMIT 3",
    "SELECT id, count(*) FILTER (WHERE price > 1) OVER (PARTITION BY genre) + 1 AS n FROM book",
    "SELECT id, max(title) OVER (PARTITION BY price, authorId ORDER BY genre) AS t FROM book",
    "SELECT id, rank() OVER (PARTITION BY price, genre) a, 1 + rank() OVER (PARTITION BY genre) b FROM book",
    """
    SELECT book.id, name, rank() OVER (PARTITION BY authorId ORDER BY name, title) AS place
    FROM book LEFT JOIN author ON author.id = authorId
    """,
    """
    SELECT a.id, b.id AS book, row_number() OVER (PARTITION BY a.id ORDER BY b.title, b.id) AS n
    FROM author a JOIN book b ON b.authorId = a.id
    """,
    """
    SELECT id, rank() OVER (PARTITION BY genre ORDER BY price) AS place FROM book
    WHERE EXISTS (SELECT 1 FROM author WHERE author.id = authorId) ORDER BY place DESC
    """,
    "SELECT id, rank() OVER (PARTITION BY name) AS n FROM author",
    "SELECT id, rank() OVER (PARTITION BY price ORDER BY id) AS n FROM book",
    "SELECT id, count(*) OVER (PARTITION BY substr(title, 1, 1)) AS n FROM book",
    "SELECT id, rank() OVER (PARTITION BY price, title COLLATE NOCASE, genre) AS n FROM cheaper",
  ]

  @Test(arguments: [
    """
    SELECT id, title FROM (
      SELECT *, row_number() OVER (PARTITION BY genre ORDER BY price DESC, id) AS n FROM book)
    WHERE n = 1 ORDER BY title
    """,
    """
    WITH r(number, kind, place) AS (
      SELECT id, genre, rank() OVER (PARTITION BY genre ORDER BY title) FROM book WHERE id > 2)
    SELECT place || '. ' || kind AS t, number FROM r WHERE place < 3 ORDER BY place + number LIMIT 4
    """,
    // Whose names mean something else outside.
    """
    SELECT genre FROM (
      SELECT id AS genre, genre AS id, count(*) OVER (PARTITION BY genre) AS n FROM book) AS s
    WHERE n > 1
    """,
    """
    SELECT name, n FROM (
      SELECT * FROM (
        SELECT a.id, a.name, b.id AS book, row_number() OVER (PARTITION BY a.id ORDER BY b.id) AS n
        FROM author a JOIN book b ON b.authorId = a.id)
      WHERE n < 3) AS few
    """,
  ])
  func `is row by row where a subquery has them, and is all of FROM`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: [
    (
      "SELECT title FROM (SELECT title, rank() OVER (PARTITION BY genre) AS n FROM book) WHERE n = 1",
      "a window is not partitioned by a column that its subquery shows"
    ),
    (
      "SELECT rank() OVER (PARTITION BY genre) AS m FROM (SELECT *, rank() OVER (PARTITION BY genre) AS n FROM book)",
      "its window functions look at those of a subquery"
    ),
    (
      "SELECT genre, count(*) AS c FROM (SELECT *, rank() OVER (PARTITION BY genre) AS n FROM book) GROUP BY genre",
      "it has a window function"
    ),
    (
      "SELECT a.id FROM author a JOIN (SELECT *, rank() OVER (PARTITION BY genre) AS n FROM book) b ON b.authorId = a.id",
      "it has a window function"
    ),
    (
      "SELECT id, (SELECT max(id) FROM author WHERE id < price) AS m FROM (SELECT *, rank() OVER (PARTITION BY genre) AS n FROM book)",
      "it has a subquery"
    ),
  ])
  func `is not where a subquery has them and more is asked`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }

  @Test(arguments: [
    "SELECT id, title, rank() OVER (ORDER BY price DESC) AS place FROM book ORDER BY place LIMIT 4",
    "SELECT id, dense_rank() OVER (ORDER BY price) AS place FROM book ORDER BY place, id LIMIT 4 OFFSET 3",
    "SELECT id, rank() OVER (ORDER BY price) AS place FROM book b ORDER BY price, id LIMIT 9",
    """
    SELECT title, row_number() OVER w AS n, lag(title) OVER w AS before, sum(price) OVER w AS s
    FROM book WINDOW w AS (ORDER BY price DESC, id DESC) ORDER BY n LIMIT 5
    """,
    """
    SELECT id, sum(price) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS few,
      (SELECT name FROM author WHERE author.id = authorId) AS name
    FROM book ORDER BY id LIMIT 7
    """,
    "SELECT id, rank() OVER (ORDER BY id DESC) AS n FROM book WHERE genre = 'g1' ORDER BY n LIMIT 2",
  ])
  func `is of the first rows of an index where LIMIT shows no others`(sql: String) throws {
    try expectFollowed(sql)
    #expect(try tracking(sql).reason.hasPrefix("the rows up to LIMIT are read again"))
  }

  @Test(arguments: [
    "place <= 10", "place < :p", "3 >= place", ":p > book.place", "place = 1", "(place == 1)",
    "genre = 'g1' AND book.place <= 2.5 AND id > 3",
  ])
  func `is of the rows up to a place`(condition: String) throws {
    for ranked in [
      "rank() OVER (ORDER BY price DESC)", "row_number() OVER (ORDER BY price DESC, id DESC)",
    ] {
      let sql = """
        WITH book AS (SELECT *, \(ranked) AS place FROM main.book)
        SELECT id, title, place FROM book WHERE \(condition.replacing(":p", with: "4")) ORDER BY title LIMIT 20
        """
      try expectFollowed(sql)
      #expect(try tracking(sql).reason.hasPrefix("the rows up to a place are read again"))
    }
  }

  @Test(arguments: [
    "place > 10", "place <> 1", "NOT place <= 3", "place + 1 < 3", "place <= 3 OR id = 1",
    "place <= id", "id <= 3",
    "place <= 3 IS NULL", "1 = place < 3", "place IN (1, 2)", "d <= 3",
  ])
  func `is not of the rows up to a place where another condition decides`(condition: String) throws
  {
    try expectRefetch(
      """
      SELECT id, place FROM (
        SELECT *, rank() OVER (ORDER BY price) AS place, dense_rank() OVER (ORDER BY price) AS d FROM book)
      WHERE \(condition)
      """, because: "a window is not partitioned by a column")
  }

  @Test(arguments: [
    "rank() OVER (ORDER BY price) + 1 AS n", "count(*) OVER (ORDER BY price, id) AS n",
    "rank() OVER (ORDER BY price) AS n, lead(id) OVER (ORDER BY price, id) AS next",
  ])
  func `is not of the rows up to a place where later rows decide, or it is none`(
    fields: String
  ) throws {
    try expectRefetch(
      "SELECT id, n FROM (SELECT id, \(fields) FROM book) WHERE n <= 3",
      because: "a window is not partitioned by a column")
  }

  @Test(arguments: [
    (
      "rank() OVER (ORDER BY title) AS n FROM book",
      "no index has the order of its places; what may help: CREATE INDEX book_title ON book (title)"
    ),
    (
      "row_number() OVER (ORDER BY price DESC, id) AS n FROM book",
      "no index has the order of its places, price DESC, id"
    ),
    (
      "rank() OVER (ORDER BY title COLLATE NOCASE) AS n FROM book",
      "no index has the order of its places, title COLLATE \"NOCASE\""
    ),
    (
      "rank() OVER (ORDER BY price) AS n FROM book WHERE price > 1",
      "an index of the order of its places is not searched by all of its WHERE"
    ),
    (
      "rank() OVER (ORDER BY title) AS n FROM book WHERE genre = 'g1'",
      "no index has the order of its places, title, of the rows WHERE genre = 'g1'"
    ),
  ])
  func `is not of the rows up to a place that no index tells, and says so`(
    ranked: String, reason: String
  ) throws {
    try expectRefetch("SELECT id, n FROM (SELECT id, \(ranked)) WHERE n <= 3", because: reason)
  }

  @Test(arguments: [
    "SELECT id, rank() OVER (ORDER BY price) AS n FROM book ORDER BY n DESC LIMIT 3",
    "SELECT id, rank() OVER (ORDER BY price) AS n FROM book ORDER BY price DESC LIMIT 3",
    "SELECT id, rank() OVER (ORDER BY title) AS n FROM book ORDER BY id",
    "SELECT id, rank() OVER (ORDER BY id) + 1 AS n FROM book WHERE price > 1 ORDER BY id LIMIT 3",
    "SELECT id, count(*) OVER (ORDER BY price) AS n FROM book WHERE price > 1 ORDER BY price, id",
    "SELECT id, count(*) OVER (ORDER BY id) AS n FROM book ORDER BY n",
    "SELECT id, sum(title) OVER (ORDER BY id) AS n FROM book ORDER BY id",
    "SELECT id, sum(price) OVER (ORDER BY id ROWS 2 PRECEDING) AS n FROM book ORDER BY id",
    "SELECT id, sum(price) FILTER (WHERE id > 2) OVER (ORDER BY id) AS n FROM book ORDER BY id",
    "SELECT id, lead(title, 2) OVER (ORDER BY id) AS n FROM book ORDER BY id LIMIT 3",
    "SELECT id, lag(title, 2) OVER (ORDER BY id) AS n FROM book ORDER BY id LIMIT 3",
    "SELECT id, count(*) OVER (ORDER BY price) AS n FROM book ORDER BY price LIMIT 3",
    "SELECT id, count(*) OVER () AS n FROM book ORDER BY id LIMIT 3",
    "SELECT id, ntile(2) OVER (ORDER BY id) AS n FROM book ORDER BY id LIMIT 3",
    """
    SELECT id, sum(price) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS s
    FROM book ORDER BY id LIMIT 3
    """,
    "SELECT id, price AS title, rank() OVER (ORDER BY title) AS n FROM book ORDER BY title",
    "SELECT id, -price AS price, rank() OVER (ORDER BY price) AS n FROM book ORDER BY n",
    "SELECT id, rank() OVER (ORDER BY price) AS n FROM book ORDER BY id + n",
    "SELECT id, rank() OVER (ORDER BY price), rank() OVER (ORDER BY title) FROM book ORDER BY price, title",
    "SELECT n FROM (SELECT id, rank() OVER (ORDER BY price) AS n FROM book) ORDER BY n",
  ])
  func `is not where others decide, or are looked through`(sql: String) throws {
    try expectRefetch(sql, because: "a window is not partitioned by a column")
  }

  @Test(arguments: [
    "SELECT id, rank() OVER (ORDER BY price) AS n FROM book ORDER BY n",
    "SELECT id, rank() OVER (ORDER BY title) AS n FROM book ORDER BY n LIMIT 3",
    "SELECT id, rank() OVER (ORDER BY id) AS n FROM book WHERE price > 1 ORDER BY id LIMIT 3",
    "SELECT id, rank() OVER (ORDER BY id) AS n FROM book WHERE genre = 'g1' AND price > 0 ORDER BY n LIMIT 3",
    "SELECT a, b, rank() OVER (ORDER BY a, b) AS n FROM pair ORDER BY n LIMIT 3",
    "SELECT id, rank() OVER (ORDER BY name) AS n FROM author ORDER BY n, name COLLATE BINARY LIMIT 3",
    "SELECT id, dense_rank() OVER (ORDER BY price DESC) AS d, row_number() OVER w AS n FROM book WINDOW w AS (ORDER BY price DESC, id) ORDER BY n",
    "SELECT id, -price AS price, rank() OVER (ORDER BY book.price) AS n FROM book ORDER BY n",
    "SELECT id, title AS price, rank() OVER (ORDER BY book.price) AS n FROM book ORDER BY n",
    "SELECT id, count(*) OVER (ORDER BY id) AS n FROM book WHERE price > 1 ORDER BY id",
    "SELECT id, sum(authorId) OVER w AS s, count(title) OVER w AS c FROM book WINDOW w AS (ORDER BY id DESC) ORDER BY id DESC",
    "SELECT b.id, a.name, rank() OVER (ORDER BY b.price) AS n FROM book b JOIN author a ON a.id = authorId ORDER BY n, a.name",
    "SELECT id, lag(title) OVER (ORDER BY price) AS n FROM book WHERE genre > 'g1'",
    "SELECT id, authorId, max(authorId) OVER (ORDER BY id) AS most, min(authorId) OVER (ORDER BY id) AS least FROM book ORDER BY id",
  ])
  func `works out what runs through all rows where these are in the order of the window`(
    sql: String
  ) throws {
    try expectFollowed(sql)
    #expect(try tracking(sql).reason.contains("what that changes of those behind it is counted"))
  }

  /// The value stands for the partition.
  @Test(arguments: [
    "SELECT id, lead(title, 2) OVER (ORDER BY price) AS n FROM book WHERE genre = 'g1'",
    "SELECT id, count(*) OVER () AS n FROM book WHERE id > 2 AND 'g1' == book.genre",
    "SELECT id, sum(price) OVER (ORDER BY title) AS n FROM book WHERE authorId = 1 ORDER BY n",
    "SELECT n, genre FROM (SELECT *, ntile(2) OVER (ORDER BY id) AS n FROM book WHERE genre = 'g1') WHERE n = 1",
  ])
  func `is of all rows that have one value of a column`(sql: String) throws {
    try expectFollowed(sql)
    #expect(
      try tracking(sql).reason.hasPrefix(
        "changed rows of book lead to their partitions, which are read again"))
  }

  @Test(arguments: [
    "genre = 'g1' OR id = 1", "genre = 'g1' COLLATE NOCASE", "genre IS 'g1'", "genre = title",
    "genre > 'g1'", "lower(genre) = 'g1'",
  ])
  func `is not of all rows that have one value of a column where they may have several`(
    condition: String
  ) throws {
    try expectRefetch(
      "SELECT id, lead(title, 2) OVER (ORDER BY price) AS n FROM book WHERE \(condition)",
      because: "a window is not partitioned by a column")
  }

  @Test(arguments: followed)
  func `is row by row where all windows have a partition in common`(sql: String) throws {
    try expectFollowed(sql.replacing("cheaper", with: "(SELECT * FROM book WHERE price < 3)"))
  }

  @Test(arguments: [
    (
      """
      SELECT id, rank() OVER (PARTITION BY genre) AS a, rank() OVER (PARTITION BY authorId) AS b
      FROM book
      """, "a window is not partitioned by a column"
    ),
    (
      """
      SELECT id, sum(price) OVER (PARTITION BY genre ORDER BY title
        GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n
      FROM book
      """, "sum() depends on the order of rows that the ORDER BY of its window may take for equal"
    ),
    (
      "SELECT id, last_value(price) OVER (PARTITION BY genre ORDER BY title) AS n FROM book",
      "last_value() depends on the order of rows that the ORDER BY of its window may take for equal"
    ),
    (
      """
      SELECT id, first_value(price) OVER (
        PARTITION BY genre ORDER BY title ROWS UNBOUNDED PRECEDING EXCLUDE TIES) AS n FROM book
      """,
      "first_value() depends on the order of rows that the ORDER BY of its window may take for equal"
    ),
    (
      "SELECT id, group_concat(title) OVER w AS n FROM book WINDOW w AS (PARTITION BY genre ORDER BY title)",
      """
      group_concat() depends on the order of rows that the ORDER BY of its window may take for equal: \
      end that with a key, as in ORDER BY …, id
      """
    ),
    (
      "SELECT id, first_value(price) OVER (PARTITION BY genre) AS n FROM book",
      "first_value() depends on the order of rows"
    ),
    (
      "SELECT id, max(price) OVER (PARTITION BY genre) AS n FROM book",
      "which of several equal values max() shows is not certain"
    ),
    (
      """
      SELECT a.id, rank() OVER (PARTITION BY b.genre) AS n
      FROM author a LEFT JOIN book b ON b.authorId = a.id
      """, "it groups by b.genre, which a LEFT JOIN may leave out"
    ),
    (
      "SELECT DISTINCT genre, count(*) OVER (PARTITION BY genre) AS n FROM book",
      "count() OVER looks at several records of DISTINCT"
    ),
    (
      """
      SELECT genre, count(*) AS n FROM book GROUP BY genre
      ORDER BY rank() OVER (ORDER BY count(*)) DESC, genre
      """, "it orders by a window function that is no column by itself"
    ),
    (
      "SELECT id, rank() OVER (PARTITION BY genre ORDER BY random()) AS n FROM book",
      "random() need not return the same value again"
    ),
    (
      "SELECT n FROM (SELECT rank() OVER (PARTITION BY genre ORDER BY price) AS n FROM book)",
      "a window is not partitioned by a column that its subquery shows"
    ),
  ])
  func `says why not`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }
}
