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
    var tally = Tally()
    var seed = RandomSource.seed
    while tally.queries < Self.queries {
      var random = RandomSource(seed: seed)
      let schema = RandomSchema(using: &random)
      var writer = RandomSelectWriter(schema, random)
      let select = writer.select()
      random = writer.random
      let trial = SelectTrial(
        schema: schema.statements, select: select,
        transactions: [schema.rows(using: &random)]
          + (0..<Self.transactions).map { _ in schema.transaction(using: &random) })
      if let outcome = try trial.run() {
        tally.add(outcome, select.shape)
        if outcome.failure != nil {
          let shrunk = trial.shrunk()
          let text = try shrunk.run()?.failure?.text ?? outcome.failure?.text ?? ""
          Issue.record(
            """
            replay: DIDCHANGE_SEED=\(seed) DIDCHANGE_STEPS=1 swift test --filter 'Random SELECTs'
            \(shrunk.schema.joined(separator: ";\n"))
            \(shrunk.select.sql)
            \(shrunk.transactions.map { $0.joined(separator: "; ") }.joined(separator: "\n"))
            \(text.replacing("\0", with: "␀"))
            \(outcome.mode): \(outcome.reason)
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

  private struct Tally {
    var queries = 0
    var incremental = 0
    var maintained = 0
    var refetches = 0
    var reasons: [String: Int] = [:]
    var shapes: [String: (queries: Int, incremental: Int, maintained: Int)] = [:]

    mutating func add(_ outcome: SelectTrial.Outcome, _ shape: String) {
      queries += 1
      shapes[shape, default: (0, 0, 0)].queries += 1
      shapes[shape]?.maintained += outcome.statistics.maintained
      if outcome.mode == .incremental {
        incremental += 1
        shapes[shape]?.incremental += 1
      }
      maintained += outcome.statistics.maintained
      refetches += outcome.statistics.refetches
      if outcome.mode == .refetch { reasons[String(outcome.reason.prefix(60)), default: 0] += 1 }
    }

    func report() {
      print(
        """
        \(queries) queries, \(incremental) row by row: \(maintained) times row by row, \(refetches) \
        refetched
        """)
      for (shape, counts) in shapes.sorted(by: { $0.key < $1.key }) {
        print(
          "  \(shape): \(counts.queries), \(counts.incremental) row by row, \(counts.maintained) times"
        )
      }
      for (reason, count) in reasons.sorted(by: { $0.value > $1.value }).prefix(20) {
        print("  \(count): \(reason)")
      }
    }
  }
}
