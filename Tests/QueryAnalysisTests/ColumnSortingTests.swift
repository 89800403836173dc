import Testing

@testable import QueryAnalysis

@Suite struct `Columns by which orders sort` {
  private func sorting(_ orders: [(String, [String])]) -> [ColumnSorting] {
    var query = QueryDefinition(name: "players", form: .declared(.init(table: "player")))
    query.orders = orders.map { QueryDefinition.Order(name: $0.0, terms: $0.1) }
    return query.sorting(by: ["id", "name", "score"])
  }

  @Test func `are those of the first terms`() {
    #expect(
      sorting([("name", ["name COLLATE NOCASE", "score"]), ("best", ["score DESC NULLS LAST"])])
        == [
          ColumnSorting(column: "name", ascending: "name"),
          ColumnSorting(column: "score", descending: "best"),
        ])
  }

  @Test func `have an order each way, the first one of several`() {
    #expect(
      sorting([("up", ["\"NAME\""]), ("down", ["[name] DESC"]), ("again", ["name", "id"])]) == [
        ColumnSorting(column: "name", ascending: "up", descending: "down")
      ])
  }

  @Test func `are no expressions, nor columns that are not shown`() {
    #expect(sorting([]) == [])
    #expect(
      sorting([("a", ["lower(name)"]), ("b", ["team"]), ("c", ["-score"]), ("d", ["'name'"])]) == []
    )
  }
}
