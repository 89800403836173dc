import ChangeCapture
import FetchedRecords
import HTTPServer
import HTTPTypes
import Synchronization

/// Writes numbers in the text format that Prometheus reads:
/// https://prometheus.io/docs/instrumenting/exposition_formats/
struct MetricsText {
  private(set) var text = ""

  enum Kind: String {
    case counter, gauge
  }

  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ value: some CustomStringConvertible
  ) {
    add(name, kind, help, [("", value)])
  }

  /// Several values of one name, each with its labels: `status="200"`.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String,
    _ values: [(labels: String, value: any CustomStringConvertible)]
  ) {
    text += "# HELP didchange_\(name) \(help)\n# TYPE didchange_\(name) \(kind.rawValue)\n"
    for (labels, value) in values {
      text += "didchange_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n"
    }
  }
}

/// Where the numbers of the HTTP server come from, which is made after its routes.
final class ServerNumbers: Sendable {
  private let server = Mutex<Server?>(nil)

  func attach(_ server: Server) { self.server.withLock { $0 = server } }

  var counters: ServerCounters? { server.withLock { $0 }?.counters }
}

extension RecordsService {
  /// `GET /metrics`
  func metrics(_ request: Request, _ responder: Responder) {
    var metrics = MetricsText()
    if let counters = numbers.counters { metrics.add(counters) }
    metrics.add(refresher.statistics)
    metrics.add(refresher.capture)
    let totals = registry.totals
    metrics.add(
      "controllers", .gauge, "Live queries, one for each set of arguments.", totals.controllers)
    metrics.add("records", .gauge, "Records that live queries hold.", totals.records)
    responder.respond(
      Response(
        .ok, [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
        body: .bytes(Array(metrics.text.utf8))))
  }
}

extension MetricsText {
  fileprivate mutating func add(_ server: ServerCounters) {
    add("connections", .gauge, "Open connections.", server.connectionsOpen)
    add("connections_total", .counter, "Connections accepted.", server.connectionsAccepted)
    add("accept_pauses_total", .counter, "Times no descriptor was left.", server.acceptPauses)
    add("received_bytes_total", .counter, "Bytes read from clients.", server.bytesReceived)
    add("sent_bytes_total", .counter, "Bytes written to clients.", server.bytesSent)
    add(
      "responses_total", .counter, "Answers by status.",
      server.responses.sorted { $0.key < $1.key }.map { ("status=\"\($0.key)\"", $0.value) })
    add("streams", .gauge, "Open event streams.", server.streamsOpen)
    add("streams_total", .counter, "Event streams begun.", server.streamsBegun)
    add(
      "slow_readers_skipped_total", .counter,
      "Streams skipped forward because they fell off the log.", server.slowReadersSkipped)
    add("timeouts_total", .counter, "Connections closed for being slow.", server.timeouts)
  }

  fileprivate mutating func add(_ capture: CaptureStatistics) {
    add("capture_looks_total", .counter, "Looks for changed pages.", capture.looks)
    add("capture_frames_total", .counter, "Frames read of the write-ahead log.", capture.framesRead)
    add(
      "capture_rows_total", .counter, "Rows that were found to have changed.", capture.rowsReported)
    add(
      "capture_lag_frames", .gauge, "Frames that the log was ahead at the last look.", capture.lag)
    add(
      "capture_fallbacks_total", .counter,
      "Tables taken as changed wholly, and looks that found everything changed, by reason.",
      capture.fallbacks.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", $0.value) })
  }

  fileprivate mutating func add(_ refreshes: RefreshStatistics) {
    add("refreshes_total", .counter, "Refreshes that found a commit.", refreshes.refreshes)
    add(
      "maintained_total", .counter, "Queries brought up to date row by row.", refreshes.maintained)
    add("refetches_total", .counter, "Queries that ran again.", refreshes.refetches)
    add("fetched_rows_total", .counter, "Rows that they returned.", refreshes.rowsFetched)
    add(
      "refresh_failures_total", .counter, "Queries that could not be brought up to date.",
      refreshes.failures)
    let (seconds, attoseconds) = refreshes.duration.components
    add(
      "refresh_seconds_total", .counter, "Time in refreshes.",
      Double(seconds) + Double(attoseconds) / 1e18)
  }
}
