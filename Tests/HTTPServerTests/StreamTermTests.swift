import HTTPTypes
import Testing

@testable import HTTPServer

/// Serves streams of a broadcast that say at their end how and where they ended.
private func ending(
  _ broadcast: Broadcast, after lifetime: Duration, prefix: [String] = []
) -> Server.Handler {
  { _, responder in
    let body = StreamBody(
      prefix: pieces(prefix), broadcast: broadcast, position: broadcast.start,
      farewell: { Array("farewell;".utf8) },
      term: StreamTerm(lifetime: lifetime) { position, ending in
        Array("\(ending) at \(position == broadcast.end ? "the end" : "\(position.offset)")".utf8)
      })
    responder.respond(.ok, [:], body: .stream(body))
  }
}

@Suite struct `A stream with a term` {
  private let broadcast = Broadcast(capacity: 1000)

  @Test func `ends when it is due, and not before`() throws {
    try withServer(handler: ending(broadcast, after: .milliseconds(200))) { server in
      let client = try RawClient(port: server.port)
      let start = ContinuousClock.now
      _ = try client.begin()
      broadcast.append("event;")
      #expect(try client.readText() == "event;")
      #expect(try client.readText() == "due at the end")
      #expect(try client.readText() == nil)
      #expect(start.duration(to: .now) >= .milliseconds(200))
      // The body is over, the connection is not.
      #expect(try client.begin().status == 200)
    }
  }

  @Test func `ends behind the farewell of a broadcast that is closed before`() throws {
    try withServer(handler: ending(broadcast, after: .seconds(60))) { server in
      let client = try RawClient(port: server.port)
      _ = try client.begin()
      broadcast.append("event;")
      broadcast.close()
      #expect(try client.readText() == "event;")
      #expect(try client.readText() == "farewell;early at the end")
      #expect(try client.readText() == nil)
    }
  }

  @Test func `ends behind its prefix and what there is, however early it is due`() throws {
    broadcast.append("one;")
    broadcast.append("two;")
    try withServer(handler: ending(broadcast, after: .zero, prefix: ["a;", "b;"])) { server in
      for _ in 0..<3 {
        let client = try RawClient(port: server.port)
        _ = try client.begin()
        var text = ""
        while let piece = try client.readText() { text += piece }
        #expect(text == "a;b;one;two;due at the end")
      }
    }
  }

  @Test func `ends with the connection where a client knows no chunks`() throws {
    try withServer(handler: ending(broadcast, after: .milliseconds(100))) { server in
      broadcast.append("event;")
      let client = try RawClient(port: server.port)
      _ = try client.begin("GET / HTTP/1.0")
      #expect(try client.readToEnd() == "event;due at the end")
    }
  }

  @Test func `ends between two events though events never cease`() throws {
    try withServer(handler: ending(broadcast, after: .milliseconds(200))) { server in
      let client = try RawClient(port: server.port)
      _ = try client.begin()
      var (number, text) = (0, "")
      // Each is appended when the one before has come, so the log is never quiet for long.
      while !text.contains("due at ") {
        number += 1
        broadcast.append("\(number);")
        guard let piece = try client.readText() else { break }
        text += piece
      }
      let events = text.split(separator: ";").map(String.init)
      #expect(events.dropLast() == (1..<events.count).map { "\($0)" })
      // Of the last one that was appended it may have come too early.
      #expect(events.last?.hasPrefix("due at ") == true && events.count >= number)
      #expect(try client.readText() == nil)
    }
  }

  @Test func `is woken for its end where that is before the next heartbeat`() {
    let start = Moment(nanoseconds: 1_000_000_000)
    func stream(_ lifetime: Duration?, heartbeat: Duration?) -> ActiveStream {
      ActiveStream(
        StreamBody(
          broadcast: broadcast, position: broadcast.end,
          heartbeat: heartbeat.map { Heartbeat(bytes: [], interval: $0) },
          term: lifetime.map { StreamTerm(lifetime: $0) { _, _ in [] } }),
        exchange: 1, isChunked: true, now: start, lateness: .milliseconds(50))
    }
    #expect(stream(nil, heartbeat: nil).deadline == nil)
    #expect(stream(.seconds(3), heartbeat: nil).deadline == start + .seconds(3))
    #expect(stream(.seconds(3), heartbeat: .seconds(15)).deadline == start + .seconds(3))
    #expect(stream(.seconds(60), heartbeat: .seconds(15)).deadline! < start + .seconds(15))
    let due = stream(.seconds(3), heartbeat: .seconds(15))
    #expect(!due.isDue(at: start + .milliseconds(2999)))
    #expect(due.isDue(at: start + .seconds(3)))
  }
}
