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
        let match = try #require(line.wholeMatch(of: /(\w+)(\{[^}]*\})? (\S+)/), "\(line)")
        #expect(types[String(match.1)] != nil, "\(line)")
        let value = try #require(Double(match.3), "\(line)")
        let name = String(match.1) + (match.2.map(String.init) ?? "")
        #expect(values.updateValue(value, forKey: name) == nil, "\(line)")
      }
    }
    #expect(answer.text.hasSuffix("\n"))
    #expect(values["didchange_controllers"] == 1)
    #expect(values["didchange_records"] == 5)
    #expect(values.contains { $0.key.contains("404") && $0.value == 1 })
  }
}
