import GRDBSQLite
import OrderedResults
import Testing

@testable import QueryAnalysis

/// https://www.sqlite.org/lang_aggfunc.html#aggorderby
@Suite(.enabled(if: sqlite3_libversion_number() >= 3_044_000))
struct `An aggregate with an order of its own` {
  @Test(arguments: [
    "SELECT title, group_concat(genre ORDER BY genre) AS g FROM book GROUP BY title",
    "SELECT title, group_concat(genre, '-' ORDER BY price DESC, id) AS g FROM book GROUP BY title",
    "SELECT title, json_group_array(json_object('g', genre, 't', title) ORDER BY title, genre DESC) AS g FROM book GROUP BY title",
    "SELECT title, group_concat(DISTINCT genre ORDER BY genre) AS g FROM book GROUP BY title",
    "SELECT id, (SELECT json_group_array(v ORDER BY rowid) FROM unindexed WHERE bookId = book.id) AS vs FROM book",
    "SELECT id, (SELECT group_concat(v, ',' ORDER BY v, rowid) FROM unindexed WHERE bookId = book.id) AS vs FROM book",
    "SELECT * FROM (SELECT title, group_concat(genre ORDER BY id) AS g FROM book GROUP BY title) WHERE g > 'a'",
    "SELECT title, group_concat(a.id ORDER BY b.id) AS g FROM book b JOIN author a ON a.id = b.authorId GROUP BY title",
  ])
  func `settles it by a key, or by what it takes`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.members != nil || !plan.keptRows.isEmpty)
  }

  @Test(arguments: [
    // Rows that are equal, or look different where they are.
    "SELECT title, group_concat(genre ORDER BY price) AS g FROM book GROUP BY title",
    "SELECT title, group_concat(genre ORDER BY genre COLLATE NOCASE) AS g FROM book GROUP BY title",
    "SELECT country, group_concat(name ORDER BY name) AS g FROM author GROUP BY country",
    // DISTINCT takes the price of any.
    "SELECT title, group_concat(DISTINCT genre ORDER BY id) AS g FROM book GROUP BY title",
    // Of an author there are several.
    "SELECT title, group_concat(b.id ORDER BY a.id) AS g FROM book b JOIN author a ON a.id = b.authorId GROUP BY title",
    "SELECT title, group_concat(b.title ORDER BY a.id) AS g FROM book b LEFT JOIN author a ON a.id = b.authorId GROUP BY b.title",
    "SELECT title, group_concat(genre) AS g FROM book GROUP BY title",
  ])
  func `may leave it open`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    #expect(query.tracking.mode == .refetch, "\(query.tracking.reason)")
  }

  @Test func `is one of all rows, with however many terms`() throws {
    for sql in ["json_group_array(title ORDER BY price, id)", "max(id ORDER BY price, id)"] {
      let query = try analyzed(
        QueryDefinition(name: "q", form: .sql("SELECT \(sql) AS m FROM book")))
      #expect(query.layout.keyNames.isEmpty && query.tracking.mode == .refetch)
    }
  }
}
