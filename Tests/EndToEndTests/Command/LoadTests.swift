import Foundation
import Locks
import Testing

@Suite(.endToEnd) struct `Many clients` {
  /// Two hundred streams are open while four connections send ten thousand requests and a writer
  /// commits: all requests are answered, and all streams tell the same.
  @Test func `are all served`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let path = "/v1/queries/players/events"
    let streams = (0..<200).map { _ in fixture.stream(path) }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    let writer = try fixture.writer()
    let failures = Mutex<[String]>([])
    let requests = DispatchGroup()
    for _ in 1...4 {
      requests.enter()
      Thread.detachNewThread { [base = fixture.base] in
        Self.request(2500, of: HTTPClient(base), failures)
        requests.leave()
      }
    }
    let commits = 100
    for step in 1...commits {
      try writer.commit("UPDATE player SET score = -\(step) WHERE id = 1")
      while try streams[0].next()?.type != "didChange" {}
    }
    requests.wait()
    #expect(failures.withLock { $0 } == [])
    let last = try fixture.client().post("/v1/queries/players/fetch").json["version"].string ?? ""
    let texts = try streams.map { stream in
      while stream.lastEventID != last { _ = try stream.next() }
      return stream.sharedText
    }
    #expect(Set(texts).count == 1)
    // And what they tell is right, from the first event to the last.
    var model = ClientModel()
    for event in streams[0].allEvents { _ = try model.receive(event) }
    #expect(model.version == last)
    #expect(model.records.first?.values["score"] == .number("-\(commits)"))
  }

  private static func request(
    _ count: Int, of client: HTTPClient, _ failures: borrowing Mutex<[String]>
  ) {
    let paths = [
      "/v1/queries/players/records", "/v1/queries/players/sections", "/healthz",
      "/v1/queries/players/records/3", "/v1/queries",
    ]
    for number in 0..<count {
      let path = paths[number % paths.count]
      do {
        let answer = try client.get(path)
        if answer.status != 200 { failures.withLock { $0.append("\(path): \(answer.text)") } }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
  }
}
