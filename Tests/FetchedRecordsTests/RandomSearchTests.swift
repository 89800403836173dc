import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Random searches with FTS5, kept up to date row by row and by refetch, held against the plain SELECT
/// after each of some random transactions.
///
/// `DIDCHANGE_STEPS` is eight times the number of queries, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random searches` {
  static let queries = RandomSource.number("DIDCHANGE_STEPS").map { max($0 / 8, 1) } ?? 60
  static let transactions = 20

  @Test func `show what SQLite finds`() throws {
    print("random searches: DIDCHANGE_SEED=\(RandomSource.seed), \(Self.queries) queries")
    var tally = SelectTally()
    var seed = RandomSource.seed
    while tally.queries < Self.queries {
      let trial = Self.trial(seed)
      if let outcome = try trial.run() {
        tally.add(outcome, trial.select.shape)
        if outcome.failure != nil {
          Issue.record(
            """
            replay: DIDCHANGE_SEED=\(seed) DIDCHANGE_STEPS=1 swift test --filter 'Random searches'
            \(try trial.shrunkReport(outcome))
            """)
          return
        }
      }
      seed += 1
    }
    tally.report()
    guard tally.queries >= 60 else { return }
    #expect(tally.incremental > tally.queries / 2)
    #expect(tally.maintained > 0)
  }

  private static func trial(_ seed: UInt64) -> SelectTrial {
    var random = RandomSource(seed: seed)
    let schema = RandomSearchSchema(using: &random)
    var writer = RandomSearchWriter(schema, random)
    let select = writer.select()
    let words = writer.words(detail: "none")
    random = writer.random
    return SelectTrial(
      schema: schema.statements, select: select,
      transactions: [schema.rows(using: &random)]
        + (0..<transactions).map { _ in schema.transaction(using: &random) },
      arguments: ["q": .text(words)])
  }
}
