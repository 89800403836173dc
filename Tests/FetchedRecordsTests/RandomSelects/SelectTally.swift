import FetchedRecords
import QueryAnalysis

/// How many random queries went which way, and why.
struct SelectTally {
  var queries = 0
  var incremental = 0
  var maintained = 0
  var refetches = 0
  /// Of those that read tables WITHOUT ROWID by their keys.
  var keyed = (queries: 0, maintained: 0)
  /// Of those whose records look at what is one value for all of them.
  var valued = (queries: 0, maintained: 0)
  /// Of those whose records are made of what many rows come to, and how often they were.
  var tallied = (queries: 0, known: 0)
  /// Of those for which something is kept in memory for want of an index.
  var kept: [String: (queries: Int, maintained: Int)] = [:]
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
    if outcome.isKeyed {
      keyed.queries += 1
      keyed.maintained += outcome.statistics.maintained
    }
    if outcome.looksAtValues {
      valued.queries += 1
      valued.maintained += outcome.statistics.maintained
    }
    if let known = outcome.talliedTimes {
      tallied.queries += 1
      tallied.known += known
    }
    if let word = outcome.kept {
      kept[word, default: (0, 0)].queries += 1
      kept[word]?.maintained += outcome.statistics.maintained
    }
    refetches += outcome.statistics.refetches
    if outcome.mode == .refetch { reasons[String(outcome.reason.prefix(60)), default: 0] += 1 }
  }

  func report() {
    print(
      """
      \(queries) queries, \(incremental) row by row: \(maintained) times row by row, \(refetches) \
      refetched
      """)
    print("  by primary keys: \(keyed.queries), \(keyed.maintained) times")
    print("  with one value for all: \(valued.queries), \(valued.maintained) times")
    print("  by what many rows come to: \(tallied.queries), \(tallied.known) times")
    for (word, counts) in kept.sorted(by: { $0.key < $1.key }) {
      print("  \(word) in memory: \(counts.queries), \(counts.maintained) times")
    }
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
