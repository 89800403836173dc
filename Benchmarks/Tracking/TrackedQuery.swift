import FetchedRecords
import QueryAnalysis

/// One live query of a benchmark, with an engine of its own.
final class TrackedQuery {
  private let database: SampleDatabase
  private let refresher: Refresher
  let mode: QueryAnalysis.Tracking.Mode
  let reason: String

  init(_ database: SampleDatabase, _ sql: String, alongside: [String] = []) throws {
    self.database = database
    let definition = QueryDefinition(
      name: "q", form: .sql(sql),
      alongside: alongside.enumerated().map { .init(name: "v\($0)", sql: $1) })
    var limits = RefresherLimits()
    // Some take longer over a million rows, the first time.
    limits.statement = .seconds(300)
    refresher = try Refresher(
      path: database.path, queries: .definitions([definition]), limits: limits)
    let tracking = try refresher.opened("q").snapshot.query.tracking
    mode = tracking.mode
    reason = tracking.reason
  }

  /// The medians of several that take turns, so that what else the machine does meets all of them.
  static func measureInTurns(
    _ queries: [TrackedQuery], _ runs: Int, _ change: String
  ) throws -> [Double] {
    var times = queries.map { _ in [Double]() }
    for _ in 0..<runs {
      for (index, query) in queries.enumerated() {
        times[index].append(try query.measure(1, change))
      }
    }
    return times.map { $0.median ?? 0 }
  }

  func measure(_ runs: Int, _ change: String) throws -> Double {
    refresher.refreshAndWait()
    return try Measure.median(runs: runs) {
      try self.database.write(change)
    } _: {
      refresher.refreshAndWait()
    }
  }
}
