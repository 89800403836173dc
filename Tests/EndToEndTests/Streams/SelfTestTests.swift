import Testing

@Suite(.endToEnd) struct `The self-test stream` {
  @Test func `ticks at known times and ends`() throws {
    let teams = try Teams()
    let stream = teams.fixture.stream("/v1/selftest")
    let start = ContinuousClock.now
    var arrivals: [Duration] = []
    while let event = try stream.next() {
      #expect(event.type == "tick")
      arrivals.append(start.duration(to: .now))
      #expect(try event.json["number"].int == arrivals.count)
      if arrivals.count == 8 { break }
    }
    #expect(arrivals.count == 8)
    // Late is how a busy machine is; early would be a lie.
    let (first, last) = (try #require(arrivals.first), try #require(arrivals.last))
    #expect(last >= .milliseconds(800))
    #expect(first < last - .milliseconds(400))
  }

  @Test func `takes no parameters`() throws {
    let teams = try Teams()
    let client = teams.fixture.client()
    #expect(try client.get("/v1/selftest?ticks=9").status == 400)
    #expect(try client.send("HEAD", "/v1/selftest").status == 200)
    #expect(try client.send("HEAD", "/v1/selftest?ticks=9").status == 400)
  }
}
