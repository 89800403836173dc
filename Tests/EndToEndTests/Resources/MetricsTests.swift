import Testing

@Suite(.endToEnd) struct `Metrics` {
  @Test func `are what Prometheus reads`() throws {
    let teams = try Teams()
    let client = teams.fixture.client()
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    _ = try teams.follower.changes()
    #expect(try client.get("/v1/queries/none").status == 404)
    let answer = try client.get("/metrics")
    #expect(answer.status == 200)
    #expect(answer.head["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
    var types: [String: String] = [:]
    var values: [String: Double] = [:]
    for line in answer.text.split(separator: "\n") {
      if let match = line.wholeMatch(of: /# TYPE (\w+) (counter|gauge|histogram|summary)/) {
        #expect(types.updateValue(String(match.2), forKey: String(match.1)) == nil, "\(line)")
      } else if !line.hasPrefix("# HELP ") {
        let match = try #require(
          line.wholeMatch(of: /(\w+)(\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? (\S+)/), "\(line)")
        let base = match.1.replacing(/_(bucket|sum|count)$/, with: "")
        #expect(types[String(match.1)] != nil || types[String(base)] == "histogram", "\(line)")
        let value = try #require(Double(match.3), "\(line)")
        let name = String(match.1) + (match.2.map(String.init) ?? "")
        #expect(values.updateValue(value, forKey: name) == nil, "\(line)")
      }
    }
    #expect(answer.text.hasSuffix("\n"))
    #expect(values["didchange_controllers"] == 1)
    #expect(values["didchange_records"] == 5)
    let answers = "didchange_request_duration_seconds"
    let missing = "route=\"/v1/queries/{query}\",status=\"404\""
    #expect(values["\(answers)_count{\(missing)}"] == 1)
    #expect(values["\(answers)_bucket{\(missing),le=\"+Inf\"}"] == 1)
    #expect(values["\(answers)_bucket{\(missing),le=\"10.0\"}"] == 1)
    #expect(values["didchange_streams"] == 1)
    // A snapshot is made for each stream; what all share is willChange, change and didChange.
    #expect(values["didchange_events_total"] == 3)
    #expect(values["didchange_change_sets_total"] == 1)
    let kinds = ["incremental", "refetch"].compactMap {
      values["didchange_refresh_duration_seconds_count{kind=\"\($0)\"}"]
    }
    #expect(kinds.count == 2 && kinds.reduce(0, +) >= 1)
    for name in ["slow_readers_skipped_total", "capture_lag_frames", "sent_bytes_total"] {
      #expect(values["didchange_\(name)"] != nil)
    }
    let query = "{query=\"players\"}"
    #expect(values["didchange_query_streams\(query)"] == 1)
    #expect(values["didchange_query_records\(query)"] == 5)
    #expect(values["didchange_query_controllers\(query)"] == 1)
    #expect(try #require(values["didchange_query_bytes\(query)"]) > 0)
    #expect(values["didchange_query_failing\(query)"] == 0)
    let refreshes = "didchange_query_refreshes_total{query=\"players\",kind="
    let counts = ["incremental", "refetch"].compactMap { values["\(refreshes)\"\($0)\"}"] }
    #expect(counts.count == 2 && counts.reduce(0, +) == 1)
    let build = values.filter { $0.key.hasPrefix("didchange_build_info{version=") }
    #expect(Array(build.values) == [1])
    for name in ["cpu_seconds_total", "open_fds", "resident_memory_bytes", "start_time_seconds"] {
      #expect(try #require(values["process_\(name)"]) > 0)
    }
    // What clients ask for makes no label.
    let labels = values.keys.filter { $0.contains("none") && !$0.contains("route=\"none\"") }
    #expect(labels == [])
  }
}
