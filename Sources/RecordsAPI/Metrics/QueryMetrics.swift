import FetchedRecords
import HTTPServer
import Locks
import OrderedResults
import QueryAnalysis

/// Streams that are open, by the queries that they show.
final class StreamCounts: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  /// - Returns: what is called when the stream is over.
  func begin(_ queries: Set<String>) -> @Sendable () -> Void {
    note(queries, 1)
    return { [self] in note(queries, -1) }
  }

  private func note(_ queries: Set<String>, _ difference: Int) {
    counts.withLock { counts in
      for query in queries {
        let count = counts[query, default: 0] + difference
        counts[query] = count == 0 ? nil : count
      }
    }
  }

  var current: [String: Int] { counts.withLock(\.self) }
}

// Each query by itself: as many values as the configuration has queries, whatever clients ask for.
extension RecordsService {
  func addQueries(to metrics: inout MetricsText) {
    let names = catalog.all.map(\.definition).filter { !$0.isPrivate }.map(\.name)
    let live = registry.liveByQuery
    func add(
      _ name: String, _ kind: MetricsText.Kind, _ help: String,
      _ value: (String) -> any CustomStringConvertible
    ) {
      metrics.add(
        "query_\(name)", kind, help, names.map { (MetricsText.label("query", $0), value($0)) })
    }
    add("controllers", .gauge, "Live queries, one for each set of arguments.") {
      live[$0]?.controllers ?? 0
    }
    add("records", .gauge, "Records that they hold.") { live[$0]?.records ?? 0 }
    add("bytes", .gauge, "About the bytes of these.") { live[$0]?.bytes ?? 0 }
    let streams = streams.current
    add("streams", .gauge, "Open event streams that show the query.") { streams[$0] ?? 0 }
    let failing = refresher.failingQueries
    add("failing", .gauge, "Whether it cannot be brought up to date now.") {
      failing[$0] == nil ? 0 : 1
    }
    let refreshed = refresher.statistics.queries
    add("failures_total", .counter, "Times that it could not be brought up to date.") {
      refreshed[$0]?.failures ?? 0
    }
    addDurations(names, to: &metrics)
  }

  private func addDurations(_ names: [String], to metrics: inout MetricsText) {
    let durations = refreshes.byQuery
    let labelled = names.flatMap { name in
      RefreshKind.allCases.map { kind in
        (
          labels: [
            MetricsText.label("query", name), MetricsText.label("kind", kind.rawValue),
          ].joined(separator: ","), value: durations[name]?[kind] ?? RefreshCounters.Total()
        )
      }
    }
    metrics.add(
      "query_refreshes_total", .counter, "Times that it was brought up to date, by kind.",
      labelled.map { ($0.labels, $0.value.count) })
    metrics.add(
      "query_refresh_seconds_total", .counter, "Time that this took.",
      labelled.map { ($0.labels, $0.value.duration / .seconds(1)) })
  }
}

extension FeedRegistry {
  /// What is live of one query.
  struct Live {
    var controllers = 0
    var records = 0
    var bytes = 0
  }

  /// O(n log m), n live queries of m records.
  var liveByQuery: [String: Live] {
    feeds.live.reduce(into: [:]) { live, item in
      live[item.key.query, default: Live()].controllers += 1
      live[item.key.query, default: Live()].records += item.value.head.snapshot.results.count
      live[item.key.query, default: Live()].bytes += item.value.size
    }
  }
}
