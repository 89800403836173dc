#if os(Linux)
  import Foundation
  import OrderedResults
  import QueryAnalysis
  import Testing

  @testable import FetchedRecords

  @Suite struct `Work beside the queue` {
    private static let counted = QueryDefinition(
      name: "counted",
      form: .sql(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
        SELECT count(*) AS count FROM n
        """),
      parameters: [QueryParameter(name: "n", type: .integer)])

    /// Nobody knows of a query that it is long before it has run.
    @Test func `lets others go first once it is long, and the next one does not`() throws {
      var limits = RefresherLimits()
      limits.readers = 1
      let fixture = try Fixture(
        schema: "CREATE TABLE t(a)", queries: .definitions([Self.counted]), limits: limits)
      let refresher = fixture.refresher
      let giveUp = refresher.open("counted", arguments: ["n": .integer(.max)]) { _, _ in
      } completion: { _ in
      }
      func yields() -> Bool? { refresher.queue.sync { refresher.readers.first?.yields } }
      let deadline = ContinuousClock.now + .seconds(60)
      while yields() != true {
        try #require(ContinuousClock.now < deadline)
        usleep(1000)
      }
      giveUp()
      refresher.settle()
      let before = refresher.statistics.background
      _ = try fixture.open("counted", arguments: ["n": .integer(50_000)])
      #expect(refresher.statistics.background > before)
      #expect(yields() == false)
    }
  }
#endif
