import GRDB
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Random SELECTs over random schemas, kept up to date row by row and by refetch, held against the
/// plain SELECT after each of some random transactions.
///
/// `DIDCHANGE_STEPS` is the number of queries, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random SELECTs` {
  static let queries = RandomSource.number("DIDCHANGE_STEPS") ?? 60
  static let transactions = 20

  @Test func `show what SQLite returns`() throws {
    print("random SELECTs: DIDCHANGE_SEED=\(RandomSource.seed), \(Self.queries) queries")
    var tally = SelectTally()
    var seed = RandomSource.seed
    while tally.queries < Self.queries {
      var random = RandomSource(seed: seed)
      let schema = RandomSchema(using: &random)
      var writer = RandomSelectWriter(schema, random)
      let select = writer.select()
      random = writer.random
      // Tables that have few rows may be looked through.
      let rows = random.once(in: 3) ? try schema.firstRows(using: &random) : []
      let trial = SelectTrial(
        schema: schema.statements + rows, select: select,
        transactions: [schema.rows(using: &random)]
          + (0..<Self.transactions).map { _ in schema.transaction(using: &random) })
      if let outcome = try trial.run() {
        tally.add(outcome, select.shape)
        if outcome.failure != nil {
          Issue.record(
            """
            replay: DIDCHANGE_SEED=\(seed) DIDCHANGE_STEPS=1 swift test --filter 'Random SELECTs'
            \(try trial.shrunkReport(outcome))
            """)
          return
        }
      }
      seed += 1
    }
    tally.report()
    // A replay of a few says nothing of how many are which.
    guard tally.queries >= 60 else { return }
    #expect(tally.incremental > tally.queries / 10)
    #expect(tally.maintained > 0)
  }
}
