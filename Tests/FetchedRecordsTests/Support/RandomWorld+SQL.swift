import OrderedResults
import QueryAnalysis

@testable import FetchedRecords

// Queries written in SQL.
extension RandomWorld {
  static func query(
    _ name: String, _ sql: String, section: String? = nil, key: [String]? = nil,
    parameters: [String] = []
  ) -> QueryDefinition {
    QueryDefinition(
      name: name, form: .sql(sql), key: key, section: section,
      parameters: parameters.map { QueryParameter(name: $0, type: .integer) })
  }

  static let refetched: [Case] = [
    Case(
      definition: query(
        "duplicates",
        """
        SELECT author.id AS author, book.title FROM author JOIN book ON authorId = author.id
        ORDER BY author.id, book.title, book.id
        """, section: "author", key: ["author"]),
      oracle: """
        SELECT authorId, authorId, title FROM book WHERE authorId IN (SELECT id FROM author)
        ORDER BY authorId, title, id
        """, tracking: .refetch),
    Case(
      definition: query(
        "keyless",
        "SELECT country, name FROM author WHERE (SELECT 1) ORDER BY country, name, id",
        section: "country"),
      oracle: "SELECT country, country, name FROM author ORDER BY country, name, id",
      tracking: .refetch),
  ]

  static let written: [Case] = [
    Case(
      definition: query(
        "plain",
        """
        select a.name, a.id AS number /* FROM */ from author AS a
        where a.country IS NOT NULL order by a.name desc -- the end
        """),
      oracle: """
        SELECT NULL, name, id FROM author WHERE country IS NOT NULL ORDER BY name DESC, id DESC
        """),
    Case(
      definition: query(
        "hiddenKey", "SELECT country, name FROM author ORDER BY country, name",
        section: "country"),
      oracle: "SELECT country, country, name FROM author ORDER BY country, name, id"),
    Case(
      definition: query(
        "initials",
        """
        SELECT id, title, price FROM book WHERE price IS NOT :none
        ORDER BY upper(substr(title, 1, 1)), price NULLS LAST
        """, section: "upper(substr(title, 1, 1))", parameters: ["none"]),
      oracle: """
        SELECT upper(substr(title, 1, 1)), id, title, price FROM book WHERE price IS NOT 2
        ORDER BY 1, price NULLS LAST, id
        """, arguments: ["none": .integer(2)]),
    Case(
      definition: query("star", "SELECT * FROM author ORDER BY 3, name COLLATE RTRIM DESC"),
      oracle: """
        SELECT NULL, id, name, country FROM author
        ORDER BY country, name COLLATE RTRIM DESC, id DESC
        """),
    Case(
      definition: query(
        "viaView",
        "SELECT c.*, price * :factor AS more FROM cheap c WHERE id <> 3 ORDER BY title",
        parameters: ["factor"]),
      oracle: """
        SELECT NULL, id, title, price, price * 2 FROM book WHERE price < 3 AND id <> 3
        ORDER BY title, id
        """, arguments: ["factor": .integer(2)]),
    Case(
      definition: query(
        "viaJoinedView", "SELECT by, name, number FROM signed WHERE number > 2 ORDER BY by"),
      oracle: """
        SELECT NULL, (SELECT name FROM author WHERE id = authorId) AS by, title, id FROM book
        WHERE id > 2 AND authorId IN (SELECT id FROM author) ORDER BY by COLLATE NOCASE, id
        """),
    Case(
      definition: query(
        "viaCTE",
        """
        WITH named(number, label) AS (SELECT id, name FROM author WHERE name IS NOT NULL),
          few AS (SELECT * FROM named WHERE number < 20)
        SELECT label, number FROM few ORDER BY label
        """),
      oracle: """
        SELECT NULL, name, id FROM author WHERE name IS NOT NULL AND id < 20 ORDER BY name, id
        """),
    Case(
      definition: query(
        "viaSubquery",
        """
        SELECT s.id, s.t FROM (SELECT id, title AS t, price FROM book WHERE price > 0) AS s
        ORDER BY s.t, s.price DESC
        """),
      oracle: "SELECT NULL, id, title FROM book WHERE price > 0 ORDER BY title, price DESC, id DESC"
    ),
  ]

  static let joined: [Case] = [
    Case(
      definition: query(
        "inner",
        """
        SELECT book.id, title, author.name FROM book JOIN author ON author.id = book.authorId
        WHERE author.country IS NOT NULL ORDER BY author.name, title
        """),
      oracle: """
        SELECT NULL, id, title, (SELECT name FROM author WHERE id = authorId) AS name FROM book
        WHERE authorId IN (SELECT id FROM author WHERE country IS NOT NULL)
        ORDER BY name COLLATE NOCASE, title, id
        """),
    Case(
      definition: query(
        "left",
        """
        SELECT book.id, title, author.name AS name FROM book
        LEFT JOIN author ON author.id = book.authorId AND author.country IS NOT NULL
        ORDER BY name DESC, title
        """),
      oracle: """
        SELECT NULL, id, title,
          (SELECT name FROM author WHERE id = authorId AND country IS NOT NULL) AS name
        FROM book ORDER BY name COLLATE NOCASE DESC, title, id
        """),
    Case(
      definition: query(
        "many",
        """
        SELECT a.id AS author, b.id AS book, b.title FROM author a LEFT JOIN book b
        ON b.authorId = a.id ORDER BY a.name, b.price DESC
        """),
      oracle: """
        SELECT NULL, author, book, title FROM (
          SELECT a.id AS author, b.id AS book, title, name, price FROM author a, book b
            WHERE authorId = a.id
          UNION ALL SELECT id, NULL, NULL, name, NULL FROM author
            WHERE id NOT IN (SELECT authorId FROM book WHERE authorId IS NOT NULL))
        ORDER BY name COLLATE NOCASE, price DESC, author DESC, book DESC
        """),
    Case(
      definition: query(
        "chain",
        """
        SELECT s.id, s.n, b.title, a.name, r.floor FROM shelf s, book b, author a
        LEFT JOIN room r ON r.code = s.room
        WHERE b.id = s.bookId AND a.id = b.authorId ORDER BY r.floor, s.n
        """),
      oracle: """
        SELECT NULL, id, n, (SELECT title FROM book WHERE id = bookId),
          (SELECT name FROM author WHERE id = (SELECT authorId FROM book WHERE id = bookId)),
          (SELECT floor FROM room WHERE code = room) AS f
        FROM shelf WHERE bookId IN (SELECT id FROM book WHERE authorId IN (SELECT id FROM author))
        ORDER BY f, n, id
        """),
    Case(
      definition: query(
        "self",
        """
        SELECT s.id, t.n AS m, t.room AS there FROM shelf s LEFT JOIN shelf t ON t.id = s.n
        ORDER BY m
        """),
      oracle: """
        SELECT NULL, id, (SELECT t.n FROM shelf t WHERE t.id = s.n) AS m,
          (SELECT t.room FROM shelf t WHERE t.id = s.n) FROM shelf s ORDER BY m, id
        """),
    Case(
      definition: query(
        "throughView",
        """
        SELECT s.id, signed.name, signed.by FROM shelf s
        JOIN signed ON signed.number = s.bookId ORDER BY signed.by, s.id
        """),
      oracle: """
        SELECT NULL, id, (SELECT name FROM signed WHERE number = bookId),
          (SELECT by FROM signed WHERE number = bookId) AS by
        FROM shelf WHERE bookId IN (SELECT number FROM signed) ORDER BY by COLLATE NOCASE, id
        """),
  ]

  static let subqueries: [Case] = [
    Case(
      definition: query(
        "bookCounts",
        """
        SELECT id, name, (SELECT count(*) FROM book WHERE authorId = author.id) AS books
        FROM author ORDER BY books DESC, name
        """),
      oracle: """
        SELECT NULL, author.id, name, count(book.id) AS books FROM author
        LEFT JOIN book ON authorId = author.id GROUP BY author.id
        ORDER BY books DESC, name, author.id
        """),
    Case(
      definition: query(
        "withoutBooks",
        """
        SELECT name FROM author a
        WHERE NOT EXISTS (SELECT 1 FROM book WHERE authorId = a.id AND price > 1) ORDER BY name
        """),
      oracle: """
        SELECT NULL, name FROM author LEFT JOIN book ON authorId = author.id AND price > 1
        WHERE book.id IS NULL ORDER BY name, author.id
        """),
    Case(
      definition: query(
        "onFloors",
        """
        SELECT id, title FROM book WHERE price = 1 OR id IN (
          SELECT bookId FROM shelf WHERE room IN (SELECT code FROM room WHERE floor > :least))
        ORDER BY title
        """, parameters: ["least"]),
      oracle: """
        SELECT DISTINCT NULL, book.id, title FROM book LEFT JOIN shelf ON bookId = book.id
        LEFT JOIN room ON code = room AND floor > 0 WHERE price = 1 OR code IS NOT NULL
        ORDER BY title, book.id
        """, arguments: ["least": .integer(0)]),
    Case(
      definition: query(
        "latestShelf",
        """
        SELECT title, (SELECT room FROM shelf WHERE bookId = book.id ORDER BY n DESC, id LIMIT 1) AS
          room FROM book ORDER BY room, title
        """, section: "room"),
      oracle: """
        SELECT room, title, room FROM (
          SELECT book.id, title, room, row_number() OVER (
            PARTITION BY book.id ORDER BY n DESC, shelf.id) AS place
          FROM book LEFT JOIN shelf ON bookId = book.id)
        WHERE place = 1 ORDER BY room, title, id
        """),
    Case(
      definition: query(
        "byBooksOnShelves",
        """
        SELECT name FROM author WHERE EXISTS (
          SELECT 1 FROM book JOIN shelf USING (id) WHERE authorId = author.id) ORDER BY name
        """),
      oracle: """
        SELECT NULL, name FROM (
          SELECT DISTINCT author.id, name FROM author JOIN book ON authorId = author.id
          JOIN shelf ON shelf.id = book.id)
        ORDER BY name, id
        """),
    Case(
      definition: query(
        "chosenRooms",
        """
        SELECT code, (SELECT count(*) FROM json_each(json_array(code, 2)) WHERE value > 'room 1') AS n
        FROM room WHERE code IN (SELECT value FROM json_each(:codes)) ORDER BY code
        """, parameters: ["codes"]),
      oracle: """
        SELECT NULL, code, code > 'room 1' AS n FROM room
        WHERE code IN ('room 1', 'room 3', 'room 0') ORDER BY code
        """, arguments: ["codes": .text(Array(#"["room 1", "room 3", "room 0"]"#.utf8))]),
    Case(
      definition: query(
        "sameNumber",
        """
        SELECT id, n, (SELECT count(*) FROM shelf WHERE n = s.n) - 1 AS others FROM shelf s
        ORDER BY others DESC
        """),
      oracle: """
        SELECT NULL, s.id, s.n, count(t.id) - 1 AS others FROM shelf s LEFT JOIN shelf t ON t.n = s.n
        GROUP BY s.id ORDER BY others DESC, s.id DESC
        """),
  ]

  static let grouped: [Case] = [
    Case(
      definition: query(
        "joinedSections",
        """
        SELECT title, a.country FROM book b JOIN author a ON a.id = b.authorId
        ORDER BY a.country, title DESC
        """, section: "country"),
      oracle: """
        SELECT country, title, country FROM (
          SELECT id, title, (SELECT country FROM author WHERE id = authorId) AS country FROM book
          WHERE authorId IN (SELECT id FROM author))
        ORDER BY country, title DESC, id DESC
        """),
    Case(
      definition: query(
        "booksOfCheap",
        """
        SELECT c.id, count(s.id) shelves, min(s.n) AS least FROM cheap c
        LEFT JOIN (SELECT id, bookId, n FROM shelf WHERE n > 1) s ON s.bookId = c.id
        GROUP BY c.id HAVING shelves < 3 ORDER BY shelves DESC
        """),
      oracle: """
        SELECT NULL, id, shelves, least FROM (
          SELECT id, (SELECT count(*) FROM shelf WHERE bookId = book.id AND n > 1) AS shelves,
            (SELECT min(n) FROM shelf WHERE bookId = book.id AND n > 1) AS least
          FROM book WHERE price < 3)
        WHERE shelves < 3 ORDER BY shelves DESC, id DESC
        """),
    Case(
      definition: query(
        "counts",
        """
        SELECT author.id, author.name, count(book.id) AS bookCount
        FROM author LEFT JOIN book ON book.authorId = author.id
        GROUP BY author.id ORDER BY author.name, author.id
        """, key: ["id"]),
      oracle: """
        SELECT NULL, id, name, (SELECT count(*) FROM book WHERE authorId = author.id)
        FROM author ORDER BY name, id
        """),
    Case(
      definition: query(
        "rooms",
        """
        SELECT room, count(*) AS shelves, sum(n) AS total FROM shelf WHERE n IS NOT NULL
        GROUP BY room HAVING count(*) > 1 ORDER BY total DESC
        """),
      oracle: """
        SELECT NULL, room, shelves, total FROM (
          SELECT room, count(*) AS shelves, sum(n) AS total FROM shelf WHERE n IS NOT NULL
          GROUP BY 1) WHERE shelves > 1 ORDER BY total DESC, room DESC
        """),
    Case(
      definition: query(
        "placesInRooms",
        """
        SELECT id, room, rank() OVER (PARTITION BY room ORDER BY n DESC) AS place
        FROM shelf WHERE n IS NOT NULL ORDER BY place, room
        """),
      oracle: """
        SELECT NULL, id, room, 1 + (
            SELECT count(*) FROM shelf o
            WHERE o.n IS NOT NULL AND o.room IS s.room AND o.n > s.n) AS place
        FROM shelf s WHERE n IS NOT NULL ORDER BY place, room, id
        """),
    Case(
      definition: query(
        "union",
        """
        SELECT 'author' AS kind, id, name FROM author UNION ALL
        SELECT 'book', id, title FROM book ORDER BY 1, 3, 2
        """, section: "kind", key: ["kind", "id"]),
      oracle: """
        SELECT * FROM (SELECT 'author' AS kind, 'author', id, name FROM author UNION ALL
        SELECT 'book', 'book', id, title FROM book) ORDER BY 1, 4, 3
        """),
    Case(
      definition: query(
        "authorsOfRooms",
        """
        SELECT count(DISTINCT b.authorId) AS authors, max(s.id) FROM shelf s
        JOIN book b ON b.id = s.bookId GROUP BY s.room ORDER BY authors DESC, s.room
        """, section: "authors"),
      oracle: """
        SELECT authors, authors, last FROM (
          SELECT room, count(DISTINCT (SELECT authorId FROM book WHERE id = bookId)) AS authors,
            max(id) AS last
          FROM shelf WHERE bookId IN (SELECT id FROM book) GROUP BY room)
        ORDER BY authors DESC, room
        """),
    Case(
      definition: QueryDefinition(
        name: "declaredRooms",
        form: .declared(
          .init(
            table: "shelf", fields: ["count(*) AS shelves"], groupBy: ["room"],
            order: ["shelves DESC"]))),
      oracle: """
        SELECT NULL, count(*) AS shelves FROM shelf GROUP BY room ORDER BY shelves DESC, room DESC
        """),
  ]
}
