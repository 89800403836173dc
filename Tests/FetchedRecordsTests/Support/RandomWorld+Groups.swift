import QueryAnalysis

// Queries that show groups made by a view or a subquery.
extension RandomWorld {
  static let overGroups: [Case] = [
    Case(
      definition: QueryDefinition(
        name: "crowds", form: .declared(.init(table: "crowd", order: ["shelves DESC"])),
        key: ["room"]),
      oracle: """
        SELECT NULL, room, count(*) AS shelves, sum(n) FROM shelf GROUP BY room HAVING shelves > 1
        ORDER BY shelves DESC, room DESC
        """),
    Case(
      definition: query(
        "authorsWithBooks",
        """
        SELECT upper(country) AS land, books FROM (
          SELECT a.country, count(b.id) AS books FROM author a LEFT JOIN book b ON b.authorId = a.id
          GROUP BY a.id) AS s
        WHERE books BETWEEN 1 AND 3 ORDER BY books
        """, section: "books"),
      oracle: """
        SELECT books, upper(country), books FROM (
          SELECT *, (SELECT count(*) FROM book WHERE authorId = author.id) AS books FROM author)
        WHERE books BETWEEN 1 AND 3 ORDER BY books, id
        """),
    Case(
      definition: query(
        "endings",
        """
        SELECT 'ends with ' || substr(room, -1) AS text, count(DISTINCT bookId) AS books FROM shelf
        GROUP BY substr(room, -1) ORDER BY books DESC, substr(room, -1)
        """),
      oracle: """
        SELECT NULL, 'ends with ' || ending, count(DISTINCT bookId) AS books FROM (
          SELECT substr(room, -1) AS ending, bookId FROM shelf)
        GROUP BY ending ORDER BY books DESC, ending
        """),
    Case(
      definition: query(
        "fullRooms",
        """
        WITH used(code) AS (SELECT DISTINCT room FROM shelf WHERE n > 1)
        SELECT code FROM used WHERE code <> 'room 1' ORDER BY code DESC LIMIT 4
        """),
      oracle: """
        SELECT NULL, room FROM shelf WHERE n > 1 AND room <> 'room 1' GROUP BY room
        ORDER BY room DESC LIMIT 4
        """),
  ]
}
