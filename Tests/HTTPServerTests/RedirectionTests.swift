import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

/// Which redirections were asked, with what position, in their order.
private final class Asked: Sendable {
  private let calls = Mutex<[(name: String, position: Broadcast.Position)]>([])

  func note(_ name: String, _ position: Broadcast.Position) {
    calls.withLock { $0.append((name, position)) }
  }

  var names: [String] { calls.withLock { $0.map(\.name) } }

  var positions: [Broadcast.Position] { calls.withLock { $0.map(\.position) } }
}

extension NumberedLog {
  /// A body that begins with a piece of the log's name, and goes on with its newest units.
  fileprivate func body(from number: Int? = nil, onEnd: Signal = Signal()) -> StreamBody {
    StreamBody(
      prefix: pieces(["to \(name);"]), broadcast: broadcast,
      position: number.map(position) ?? broadcast.end, onEnd: { onEnd.fire() })
  }
}

@Test(arguments: StreamVersion.allCases)
func `a redirected stream goes on with the prefix and the log of another body`(
  version: StreamVersion
) throws {
  let (old, new) = (NumberedLog("a"), NumberedLog("b"))
  let remote = StreamRemote()
  let (oldEnded, newEnded) = (Signal(), Signal())
  let asked = Asked()
  try withServer(
    handler: serve {
      var body = old.body(onEnd: oldEnded)
      body.remote = remote
      return body
    }
  ) { server in
    let reader = try UnitReader(server, version)
    for _ in 0..<10 { old.append() }
    for _ in 0..<3 { new.append() }
    #expect(try reader.next(11) == ["to a"] + old.names(0..<10))
    remote.redirect { position in
      asked.note("to b", position)
      return .stream(new.body(from: 1, onEnd: newEnded))
    }
    old.append()
    #expect(try reader.next(3) == ["to b", "b1", "b2"])
    #expect(asked.positions == [old.position(of: 10)])
    #expect(oldEnded.wait())
    old.append()
    new.append()
    #expect(try reader.next() == "b3")
    // The remote is that of the new body, too.
    remote.hold()
    new.append()
    remote.redirect { _ in .stream(old.body(from: 11)) }
    #expect(try reader.next(2) == ["to a", "a11"])
    #expect(newEnded.wait())
    old.broadcast.close()
    #expect(try reader.next() == nil)
    #expect(oldEnded.count == 1 && newEnded.count == 1)
    #expect(server.server.statistics.streamsBegun == 1)
    eventually { server.server.statistics.streamsOpen == 0 }
  }
}

@Test(arguments: StreamVersion.allCases)
func `bytes that a redirection answers are the last`(version: StreamVersion) throws {
  let log = NumberedLog("a")
  let remotes = Mutex<[StreamRemote]>([])
  let ended = Signal()
  try withServer(
    handler: serve {
      var body = log.body(onEnd: ended)
      body.remote = StreamRemote()
      remotes.withLock { $0.append(body.remote!) }
      body.farewell = { Array("farewell;".utf8) }
      return body
    }
  ) { server in
    for last in ["last;", ""] {
      let reader = try UnitReader(server, version)
      #expect(try reader.next() == "to a")
      let remote = try #require(remotes.withLock { $0.last })
      remote.hold()
      log.append()
      remote.redirect { _ in .end(Array(last.utf8)) }
      #expect(try reader.nextToEnd() == (last.isEmpty ? [] : ["last"]))
      #expect(ended.wait())
      if version == .http11 { #expect(try reader.client.get("/plain").status == 200) }
    }
    #expect(ended.count == 2)
  }
}

@Test(arguments: StreamVersion.allCases, [3000, 200_000])
func `a reader that is slow gets the rest of a unit before it is redirected`(
  version: StreamVersion, size: Int
) throws {
  let (old, new) = (NumberedLog("a"), NumberedLog("b"))
  let remote = StreamRemote()
  let stalled = Signal()
  let asked = Asked()
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve {
      var body = old.body()
      body.remote = remote
      body.onStall = { _ in stalled.fire() }
      return body
    }
  ) { server in
    let reader = try UnitReader(server, version, receiveBuffer: 4096)
    // More than the kernel holds.
    let count = 12_000_000 / size
    for _ in 0..<count { old.append(size: size) }
    #expect(stalled.wait())
    remote.redirect { position in
      asked.note("first", position)
      return .goOn
    }
    remote.redirect { position in
      asked.note("second", position)
      return .stream(new.body(onEnd: Signal()))
    }
    old.append(size: size)
    try server.waitForLoop()
    #expect(asked.names == [])
    var seen: [String] = []
    while seen.last != "to b" { seen.append(try #require(try reader.next())) }
    let units = seen.dropFirst().dropLast()
    #expect(Array(units) == old.names(0..<units.count))
    #expect(units.count < count)
    #expect(asked.names == ["second"])
    #expect(asked.positions == [old.position(of: units.count)])
    new.append(size: size)
    #expect(try reader.next() == "b0")
  }
}

@Test(arguments: StreamVersion.allCases)
func `a prefix that is redirected comes to its end`(version: StreamVersion) throws {
  let (old, new) = (NumberedLog("a"), NumberedLog("b"))
  let remote = StreamRemote()
  let asked = Asked()
  let made = Atomic(0)
  old.append()
  let piece = Array((String(repeating: "p", count: 10_000) + ";").utf8)
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve {
      StreamBody(
        prefix: { made.wrappingAdd(1, ordering: .relaxed).newValue <= 2000 ? piece : nil },
        broadcast: old.broadcast, position: old.position(of: 0), remote: remote)
    }
  ) { server in
    let reader = try UnitReader(server, version, receiveBuffer: 4096)
    eventually { made.load(ordering: .relaxed) > 0 }
    remote.redirect { position in
      asked.note("to b", position)
      return .stream(new.body())
    }
    old.append()
    try server.waitForLoop()
    #expect(asked.names == [])
    for _ in 0..<2000 { #expect(try reader.next()?.utf8.count ?? 0 >= 29) }
    #expect(try reader.next() == "to b")
    #expect(asked.positions == [old.position(of: 0)])
    new.append()
    #expect(try reader.next() == "b0")
  }
}

@Test func `a unit that is appended as a stream joins its log is shown`() throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  try withServer(
    handler: serve {
      var body = log.body()
      body.remote = remote
      return body
    }
  ) { server in
    let reader = try UnitReader(server)
    #expect(try reader.next() == "to a")
    for _ in 0..<300 {
      // A log that no stream of the loop shows yet.
      let next = NumberedLog("b")
      remote.redirect { _ in
        .stream(StreamBody(broadcast: next.broadcast, position: next.position(of: 0)))
      }
      next.append()
      #expect(try reader.next() == "b0")
    }
  }
}

@Test func `calls before a stream has begun hold it from the beginning`() throws {
  let (old, new) = (NumberedLog("a"), NumberedLog("b"))
  let start = old.broadcast.end
  old.append()
  let remotes = Mutex<[StreamRemote]>([])
  let asked = Asked()
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve {
      let remote = StreamRemote()
      let isFirst = remotes.withLock { remotes in
        remotes.append(remote)
        return remotes.count == 1
      }
      if isFirst {
        remote.hold()
      } else {
        remote.redirect { position in
          asked.note("to b", position)
          return .stream(new.body())
        }
      }
      var body = old.body(from: 0)
      body.remote = remote
      return body
    }
  ) { server in
    let held = try UnitReader(server)
    #expect(try held.next() == "to a")
    old.append(isShownHere: true)
    try server.waitForLoop()
    #expect(try !held.client.readMore(milliseconds: 0))
    remotes.withLock { $0.first }?.release()
    #expect(try held.next(2) == ["a0", "a1"])
    let redirected = try UnitReader(server)
    #expect(try redirected.next(2) == ["to a", "to b"])
    #expect(asked.positions == [start])
    new.append()
    #expect(try redirected.next() == "b0")
  }
}

@Test func `a redirection of a stream that is over is dropped`() throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  let (ended, dropped) = (Signal(), Signal())
  try withServer(
    handler: serve {
      var body = log.body(onEnd: ended)
      body.remote = remote
      return body
    }
  ) { server in
    redirectInVain(remote, dropped)
    // It never begins.
    #expect(Curl(isHead: true).fetch(server.url("/")).status == 200)
    #expect(ended.wait())
    #expect(dropped.wait())
    redirectInVain(remote, dropped)
    #expect(dropped.wait())
    remote.hold()
    remote.release()
    #expect(ended.count == 1 && dropped.count == 2)
  }
}

@Test func `a call during an answer outlasts it`() throws {
  let logs = ["a", "b", "c"].map { NumberedLog($0) }
  let remote = StreamRemote()
  let asked = Asked()
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve {
      var body = logs[0].body()
      body.remote = remote
      return body
    }
  ) { server in
    let reader = try UnitReader(server)
    #expect(try reader.next() == "to a")
    remote.redirect { position in
      asked.note("to b", position)
      remote.hold()
      return .stream(logs[1].body())
    }
    #expect(try reader.next() == "to b")
    logs[1].append(isShownHere: true)
    try server.waitForLoop()
    #expect(try !reader.client.readMore(milliseconds: 0))
    remote.release()
    #expect(try reader.next() == "b0")
    remote.redirect { position in
      asked.note("to c", position)
      remote.redirect { position in
        asked.note("to a", position)
        return .stream(logs[0].body())
      }
      return .stream(logs[2].body())
    }
    #expect(try reader.next(2) == ["to c", "to a"])
    #expect(asked.names == ["to b", "to c", "to a"])
    let positions = [logs[0].position(of: 0), logs[1].position(of: 1), logs[2].position(of: 0)]
    #expect(asked.positions == positions)
    logs[0].append()
    #expect(try reader.next() == "a0")
  }
}

@Test func `a redirection that was not asked yet is dropped by a release`() throws {
  let log = NumberedLog("a")
  let remote = StreamRemote()
  let dropped = Signal()
  try withServer(
    handler: { request, responder in
      let token = DropToken(dropped)
      remote.redirect { _ in
        Issue.record("a redirection that was dropped was asked, with \(token)")
        return .goOn
      }
      remote.release()
      var body = log.body()
      body.remote = remote
      responder.respond(.ok, body: .stream(body))
    }
  ) { server in
    let reader = try UnitReader(server)
    #expect(try reader.next() == "to a")
    log.append()
    #expect(try reader.next() == "a0")
    #expect(dropped.count == 1)
  }
}
