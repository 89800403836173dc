import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

func serve(
  _ body: @escaping @Sendable () -> StreamBody
) -> Server.Handler {
  { request, responder in
    if request.target == "/plain" { return responder.respond(.ok) }
    responder.respond(.ok, body: .stream(body()))
  }
}

extension TestServer {
  /// Waits until the loop, of which there must be one, has done what it was given so far.
  func waitForLoop() throws {
    #expect(try RawClient(port: port).get("/plain").status == 200)
  }
}

@Test(arguments: StreamVersion.allCases)
func `nothing that is appended after a hold is sent`(version: StreamVersion) throws {
  let log = NumberedLog("a")
  let last = Mutex<(remote: StreamRemote, start: Int)?>(nil)
  try withServer(
    configure: { $0.eventLoops = 2 },
    handler: serve {
      let remote = StreamRemote()
      let start = log.count()
      last.withLock { $0 = (remote, start) }
      return StreamBody(
        broadcast: log.broadcast, position: log.position(of: start), remote: remote)
    }
  ) { server in
    try whileAppending(to: [log]) {
      for round in 0..<60 {
        let reader = try UnitReader(server, version)
        let (remote, start) = try #require(last.withLock { $0 })
        var seen = try reader.next(round)
        let count = log.count { remote.hold() }
        let asked = Mutex<Int?>(nil)
        eventually { log.count() > count + 3 }
        remote.redirect { position in
          asked.withLock { $0 = log.number(at: position) }
          return .end(Array("end;".utf8))
        }
        seen += try reader.nextToEnd()
        #expect(seen.popLast() == "end")
        let end = start + seen.count
        #expect(seen == log.names(start..<end))
        #expect(end <= count, "\(end) units, of which \(count) were before the hold")
        #expect(asked.withLock { $0 } == end)
      }
    }
  }
}

@Test(arguments: StreamVersion.allCases)
func `a stream that is released has lost nothing`(version: StreamVersion) throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  try withServer(
    handler: serve {
      StreamBody(broadcast: log.broadcast, position: log.position(of: 0), remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server, version)
    var seen: [String] = []
    try whileAppending(to: [log], largest: 50_000) {
      for round in 0..<100 {
        remote.hold()
        eventually { log.count() > seen.count + round % 5 }
        remote.release()
        seen += try reader.next(round % 7)
      }
    }
    let count = log.count()
    seen += try reader.next(count - seen.count)
    #expect(seen == log.names(0..<count))
    log.append()
    #expect(try reader.next() == "a\(count)")
  }
}

@Test(arguments: StreamVersion.allCases)
func `the end of a log ends a stream that is held`(version: StreamVersion) throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  try withServer(
    handler: serve {
      StreamBody(
        broadcast: log.broadcast, position: log.broadcast.end,
        farewell: { Array("farewell;".utf8) }, remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server, version)
    log.append()
    #expect(try reader.next() == "a0")
    remote.hold()
    log.append()
    log.broadcast.close()
    #expect(try reader.nextToEnd() == ["farewell"])
  }
}

@Test func `a stream that is held has its heartbeat`() throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  try withServer(
    handler: serve {
      StreamBody(
        broadcast: log.broadcast, position: log.broadcast.end,
        heartbeat: Heartbeat(bytes: Array("beat;".utf8), interval: .milliseconds(60)),
        remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server)
    remote.hold()
    log.append()
    #expect(try reader.next(3) == ["beat", "beat", "beat"])
    remote.release()
    eventually { (try? reader.next()) == "a0" }
  }
}

@Test func `a stream that is held is not asked what to send instead`() throws {
  let log = NumberedLog("a", capacity: 100)
  let remote = StreamRemote()
  let lags = Signal()
  let asked = Mutex<[Broadcast.Position]>([])
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve {
      StreamBody(
        broadcast: log.broadcast, position: log.broadcast.end,
        onLag: { _ in
          lags.fire()
          return StreamBody.Resumption(prefix: pieces(["all;"]), position: log.broadcast.end)
        }, remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server)
    log.append()
    #expect(try reader.next() == "a0")
    remote.hold()
    for number in 0..<100 { log.append(isShownHere: number % 2 == 0) }
    #expect(log.broadcast.start > log.position(of: 1))
    try server.waitForLoop()
    #expect(lags.count == 0)
    remote.redirect { position in
      asked.withLock { $0.append(position) }
      return .goOn
    }
    #expect(try reader.next() == "all")
    #expect(asked.withLock { $0 } == [log.position(of: 1)])
    #expect(lags.count == 1)
    log.append()
    #expect(try reader.next() == "a101")
  }
}

@Test func `what a stream was told to send instead is not sent if it was held meanwhile`() throws {
  let log = NumberedLog("a", capacity: 100)
  let start = log.broadcast.end
  for _ in 0..<100 { log.append() }
  let remote = StreamRemote()
  let lags = Signal()
  try withServer(
    handler: serve {
      StreamBody(
        broadcast: log.broadcast, position: start,
        onLag: { position in
          #expect(position == start)
          if lags.count == 0 { remote.hold() }
          lags.fire()
          return StreamBody.Resumption(
            prefix: pieces(["all \(lags.count);"]), position: log.broadcast.end)
        }, remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server)
    #expect(lags.wait())
    remote.release()
    #expect(try reader.next() == "all 2")
    #expect(server.server.statistics.slowReadersSkipped == 1)
  }
}

@Test func `a client that goes away while its stream is held ends it`() throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  let (ended, dropped) = (Signal(), Signal())
  try withServer(
    handler: serve {
      StreamBody(
        broadcast: log.broadcast, position: log.broadcast.end, onEnd: { ended.fire() },
        remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server)
    remote.hold()
    log.append()
    reader.client.close()
    #expect(ended.wait())
    redirectInVain(remote, dropped)
    #expect(dropped.wait())
    remote.release()
    log.append()
    eventually { server.server.statistics.streamsOpen == 0 }
    #expect(ended.count == 1)
  }
}

/// Redirects a stream that must not ask; `dropped` fires when the redirection is dropped.
func redirectInVain(_ remote: StreamRemote, _ dropped: Signal) {
  let token = DropToken(dropped)
  remote.redirect { _ in
    Issue.record("a stream that is over was asked, with \(token)")
    return .goOn
  }
}

/// Tells when nobody holds it any more.
final class DropToken: Sendable {
  private let dropped: Signal

  init(_ dropped: Signal) { self.dropped = dropped }

  deinit { dropped.fire() }
}
