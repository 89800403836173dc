import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import TestSupport
import Testing

/// What a stream of numbered units showed.
private struct Seen {
  var last = -1
  var skips = 0
  var gaps = 0

  /// Takes `<number:xxxx>` or `[skipped to number]`.
  mutating func take(_ unit: String) {
    if unit.hasPrefix("[") {
      skips += 1
      last = Int(unit.dropFirst().dropLast()) ?? -2
      return
    }
    #expect(unit.hasPrefix("<") && unit.hasSuffix(">"), "a unit is torn: \(unit.prefix(40))")
    let number = Int(unit.dropFirst().prefix { $0 != ":" }) ?? -2
    if number != last + 1 { gaps += 1 }
    last = number
  }
}

/// Numbered units, of which a stream that lags is told the number of the newest.
private final class Numbered: Sendable {
  let broadcast: Broadcast
  private let count = Mutex(0)

  init(capacity: Int) { broadcast = Broadcast(capacity: capacity) }

  /// Appends a unit of about this size.
  func append(size: Int) {
    count.withLock { count in
      broadcast.append("<\(count):" + String(repeating: "x", count: size) + ">")
      count += 1
    }
  }

  /// The state now: the number of the newest unit and the position after it.
  var resumption: StreamBody.Resumption {
    count.withLock { count in
      StreamBody.Resumption(prefix: pieces(["[\(count - 1)]"]), position: broadcast.end)
    }
  }

  var body: StreamBody {
    let now = resumption
    return StreamBody(
      prefix: now.prefix, broadcast: broadcast, position: now.position,
      onLag: { [self] _ in resumption })
  }
}

@Test(.slow, arguments: [100, 3000, 20_000])
func `a slow reader is skipped forward and never sees a part of a unit`(size: Int) throws {
  let numbered = Numbered(capacity: 100_000)
  try withServer(
    configure: {
      $0.eventLoops = 1
      // Under a sanitizer it takes long to write so much.
      $0.timeouts.write = .seconds(600)
    },
    handler: { _, responder in responder.respond(.ok, body: .stream(numbered.body)) }
  ) { server in
    let slow = try RawClient(port: server.port, receiveBuffer: 4096)
    let fast = try RawClient(port: server.port)
    _ = try slow.begin()
    _ = try fast.begin()
    var (seenFast, seenSlow) = (Seen(), Seen())
    seenFast.take(try fast.readText() ?? "")
    // More than the kernel holds for the slow one. The fast one reads each.
    let units = 12_000_000 / size
    for _ in 0..<units {
      numbered.append(size: size)
      seenFast.take(try fast.readText() ?? "")
    }
    #expect(seenFast.last == units - 1)
    #expect(seenFast.gaps == 0)
    #expect(seenFast.skips == 1)
    while seenSlow.last < units - 1 { seenSlow.take(try slow.readText() ?? "end") }
    #expect(seenSlow.gaps == 0)
    #expect(seenSlow.skips == 2)
    numbered.append(size: size)
    seenSlow.take(try slow.readText() ?? "")
    #expect(seenSlow.last == units)
    #expect(server.server.statistics.slowReadersSkipped == 1)
  }
}

@Test func `a reader that takes nothing is closed in the end`() throws {
  let numbered = Numbered(capacity: 10_000)
  let ended = Signal()
  try withServer(
    configure: { $0.timeouts.write = .milliseconds(300) },
    handler: { _, responder in
      var body = numbered.body
      body.onEnd = { ended.fire() }
      responder.respond(.ok, body: .stream(body))
    }
  ) { server in
    let client = try RawClient(port: server.port, receiveBuffer: 4096)
    _ = try client.begin()
    for _ in 0..<1500 { numbered.append(size: 10_000) }
    #expect(ended.wait())
    #expect(server.server.statistics.timeouts == 1)
  }
}

@Test func `many streams on several loops end with the last unit`() throws {
  let numbered = Numbered(capacity: 20_000)
  try withServer(
    configure: { $0.eventLoops = 3 },
    handler: { _, responder in responder.respond(.ok, body: .stream(numbered.body)) }
  ) { server in
    let clients = try (0..<150).map { _ in try RawClient(port: server.port) }
    for client in clients { _ = try client.begin() }
    let units = 2000
    for index in 0..<units { numbered.append(size: index % 300) }
    for client in clients {
      var seen = Seen()
      while seen.last < units - 1 { seen.take(try client.readText() ?? "end") }
      #expect(seen.gaps == 0)
    }
    numbered.broadcast.close()
    for client in clients { #expect(try client.readText() == nil) }
    #expect(server.server.statistics.streamsBegun == 150)
  }
}
