import OrderedResults
import QueryAnalysis

@testable import FetchedRecords

// Queries that show a part of their result by LIMIT and OFFSET.
extension RandomWorld {
  static let windows: [Case] = [
    Case(
      definition: query(
        "manyWindow",
        """
        SELECT a.id AS author, s.id AS shelf, s.n FROM author a LEFT JOIN shelf s ON s.n = a.id
        ORDER BY s.room, a.id LIMIT 3, 7
        """),
      oracle: """
        SELECT NULL, author, shelf, n FROM (
          SELECT a.id AS author, s.id AS shelf, n, room FROM author a, shelf s WHERE n = a.id
          UNION ALL SELECT id, NULL, NULL, NULL FROM author
            WHERE id NOT IN (SELECT n FROM shelf WHERE n IS NOT NULL))
        ORDER BY room, author, shelf LIMIT 7 OFFSET 3
        """),
    Case(
      definition: query(
        "top", "SELECT id, title, price FROM book ORDER BY price DESC, id LIMIT 5"),
      oracle: "SELECT NULL, id, title, price FROM book ORDER BY price DESC, id LIMIT 5"),
    Case(
      definition: query(
        "page", "SELECT title, price FROM book ORDER BY title, price LIMIT :n OFFSET 2",
        section: "title", parameters: ["n"]),
      oracle: "SELECT title, title, price FROM book ORDER BY title, price, id LIMIT 2, 6",
      arguments: ["n": .integer(6)]),
    Case(
      definition: query(
        "mostBooks",
        """
        SELECT author.id, name, count(*) AS n FROM author JOIN book ON authorId = author.id
        GROUP BY author.id ORDER BY n DESC, name LIMIT 1, 3
        """),
      oracle: """
        SELECT NULL, id, name, n FROM (
          SELECT id, name, (SELECT count(*) FROM book WHERE authorId = author.id) AS n FROM author)
        WHERE n > 0 ORDER BY n DESC, name COLLATE NOCASE, id LIMIT 3 OFFSET 1
        """),
    Case(
      definition: query("byIndex", "SELECT n, room FROM shelf ORDER BY n LIMIT 4 OFFSET 1"),
      oracle: "SELECT NULL, n, room FROM shelf ORDER BY n, id LIMIT 4 OFFSET 1"),
    Case(
      definition: query(
        "none", "SELECT id FROM shelf ORDER BY n LIMIT 0"),
      oracle: "SELECT NULL, id FROM shelf LIMIT 0"),
  ]
}
