import ChangeCapture
import FetchedRecords
import HeldMemory
import HTTPServer
import HTTPTypes
import Locks

extension RecordsService {
  /// `GET /metrics`
  func metrics(_ request: Request, _ responder: Responder) {
    do {
      try caller?.checkIsOperator()
    } catch {
      return responder.respond(Self.response(to: error))
    }
    var metrics = MetricsText()
    if let statistics = server() { metrics.add(statistics) }
    metrics.add("polls", .gauge, "Requests for changes that wait.", pollTimes.count)
    metrics.add(registry.counters.statistics)
    metrics.add(refresher.statistics)
    let durations = refreshes.statistics
    metrics.add(
      "refresh_duration_seconds", "Time to bring one query up to date, by kind.",
      RefreshKind.allCases.map { kind in
        ("kind=\"\(kind.rawValue)\"", durations[kind] ?? Histogram())
      })
    addQueries(to: &metrics)
    metrics.add(refresher.capture)
    let totals = registry.totals
    metrics.add(
      "controllers", .gauge, "Live queries, one for each set of arguments.", totals.controllers)
    metrics.add("records", .gauge, "Records that live queries hold.", totals.records)
    addLimits(to: &metrics)
    metrics.add(
      "build_info", .gauge, "What runs; always 1.",
      [
        (
          [
            MetricsText.label("version", ServerVersion.number),
            MetricsText.label("sqlite", ServerVersion.sqlite),
          ].joined(separator: ","), 1
        )
      ])
    metrics.addProcess()
    responder.respond(
      Response(
        .ok,
        [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
        body: .bytes(Array(metrics.text.utf8))))
  }
}

extension RecordsService {
  private func addLimits(to metrics: inout MetricsText) {
    metrics.add(
      "memory_bytes", .gauge, "Held by results, indexes, events and answers.", HeldMemory.bytes)
    metrics.add(
      "memory_aids_bytes", .gauge,
      "Those of them that only make changes cheaper, and go where room is needed.",
      HeldMemory.bytesOfAids)
    metrics.add(
      "memory_limit_bytes", .gauge, "As many may be held: `limits: memory`.",
      refresher.memory.limit)
    metrics.add(
      "memory_refusals_total", .counter,
      "Times there was no room, and a request or a refresh failed.",
      refresher.memory.refusals)
    metrics.add(
      "evictions_total", .counter, "Live queries without users that went for their memory.",
      registry.evictions.load(ordering: .relaxed))
    metrics.add(
      "address_refusals_total", .counter,
      "Requests of addresses that used as many streams or live queries as they are granted.",
      registry.shares.refusals)
    if let gate {
      metrics.add(
        "caller_share_refusals_total", .counter,
        "Requests of callers that used as many streams or live queries as they are granted.",
        registry.callerShares.refusals)
      metrics.add(
        "caller_refusals_total", .counter, "Requests and streams of callers that were refused.",
        gate.refusals.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", $0.value) })
    }
  }
}

extension MetricsText {
  fileprivate mutating func add(_ server: ServerStatistics) {
    add("connections", .gauge, "Open connections.", server.connectionsOpen)
    add("connections_total", .counter, "Connections accepted.", server.connectionsAccepted)
    add(
      "connections_refused_total", .counter, "Connections of addresses that had too many.",
      server.connectionsRefused)
    add(
      "idle_connections_closed_total", .counter,
      "Idle connections that were closed when descriptors ran out.",
      server.idleClosed)
    add(
      "accept_pauses_total", .counter,
      "Times there were too many connections, or no descriptor and no idle connection.",
      server.acceptPauses)
    add("received_bytes_total", .counter, "Bytes read from clients.", server.bytesReceived)
    add("sent_bytes_total", .counter, "Bytes written to clients.", server.bytesSent)
    add(
      "request_duration_seconds",
      "Time from the end of a request's head to the beginning of its answer, by route and status.",
      server.answers.map { ($0.key.labels, $0.value) }.sorted { $0.0 < $1.0 })
    add("streams", .gauge, "Open event streams.", server.streamsOpen)
    add("streams_total", .counter, "Event streams begun.", server.streamsBegun)
    add(
      "slow_readers_skipped_total", .counter,
      "Streams skipped forward because they fell off the log.", server.slowReadersSkipped)
    add("timeouts_total", .counter, "Connections closed for being slow.", server.timeouts)
  }

  fileprivate mutating func add(_ feeds: FeedCounters.Statistics) {
    add("events_total", .counter, "Events written, once for all their streams.", feeds.events)
    add("change_sets_total", .counter, "Change sets written.", feeds.changeSets)
    add(
      "resumptions_total", .counter,
      "Streams that had missed something, by what they were sent.",
      FeedCounters.Resumption.allCases.map { way in
        ("way=\"\(way.rawValue)\"", feeds.resumptions[way] ?? 0)
      })
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
      "alongside_total", .counter, "Values alongside that may have changed, by what told them.",
      [("by=\"statement\"", refreshes.ranAlongside), ("by=\"rows\"", refreshes.knownAlongside)])
    add(
      "refresh_failures_total", .counter, "Queries that could not be brought up to date.",
      refreshes.failures)
    add(
      "pages_read_total", .counter, "Pages read of results that are not live.", refreshes.pages)
    add(
      "background_reads_total", .counter,
      "Long reads done beside the following of commits.", refreshes.background)
    add("readers_busy", .gauge, "Connections that are at one of them.", refreshes.busyReaders)
    add(
      "reads_ended_total", .counter, "Long reads that were ended early, by reason.",
      [
        ("reason=\"timeout\"", refreshes.overdue), ("reason=\"abandoned\"", refreshes.abandoned),
        ("reason=\"putOff\"", refreshes.putOff), ("reason=\"starved\"", refreshes.starved),
      ])
    let (seconds, attoseconds) = refreshes.duration.components
    add(
      "refresh_seconds_total", .counter, "Time in refreshes.",
      Double(seconds) + Double(attoseconds) / 1e18)
  }
}

extension ServerStatistics.Answer {
  /// Requests that were refused before they had a route are one: what they asked for is anybody's.
  fileprivate var labels: String { "route=\"\(route?.name ?? "none")\",status=\"\(status)\"" }
}
