import Foundation
import TestSupport
import Testing

/// A server whose streams may be shared, Varnish before it, and their visitors.
private final class SharedServer {
  static let path = "/v1/queries/match/events"

  let varnish: Varnish
  private(set) var server: Command
  private let folder: TemporaryFolder
  private let configuration: String
  private let port: UInt16
  private let writer: ForeignWriter
  /// That the last commit made.
  private(set) var score = 0

  /// - Parameters:
  ///   - period: in seconds.
  ///   - others: bytes of other records: beside them what a commit changes is little to tell.
  /// - Throws: where a program does not start.
  init(period: Int, others: Int) throws {
    folder = try TemporaryFolder()
    let path = folder.file("match.sqlite")
    _ = try Database.make(
      path,
      """
      CREATE TABLE match (id INTEGER PRIMARY KEY, score INTEGER, note TEXT);
      INSERT INTO match VALUES (1, 0, ''), (2, 0, printf('%0\(others)d', 0));
      """, journal: .wal)
    configuration = try folder.write(
      "database: \(path)\ncaches: {streams: \(period)s}\nqueries: {match: {table: match}}\n",
      to: "didchange.yaml")
    port = try Varnish.freePort()
    server = try Command.serve(["--config", configuration], port: String(port))
    varnish = try Varnish(before: String(port))
    writer = try ForeignWriter(path)
  }

  deinit { server.process.signal(SIGTERM) }

  func visitors(_ count: Int) -> [Visitor] {
    (0..<count).map { _ in Visitor(varnish.base + Self.path) }
  }

  /// Makes the next score; each commit is one that every visitor can tell from the others.
  func commit(note: Int = 0) throws {
    score += 1
    try writer.commit(
      "UPDATE match SET score = \(score), note = printf('%0\(note)d', \(score)) WHERE id = 1")
  }

  func restart(_ signal: Int32, meanwhile: () throws -> Void = {}) throws {
    server.process.signal(signal)
    _ = try server.process.exitCode()
    try meanwhile()
    server = try Command.serve(["--config", configuration], port: String(port))
  }

  /// A number of the server's, by which it is asked for each time.
  func metric(_ name: String) throws -> Int {
    let text = try HTTPClient(server.base).get("/metrics").text
    let line = text.split(separator: "\n").first { $0.hasPrefix("didchange_\(name) ") }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  /// Begins with a stream's time: until it is as long as it can be.
  func waitForRotation(period: Int) throws {
    let client = HTTPClient(server.base)
    try eventually("streams end") {
      try client.send("HEAD", Self.path).head.maximumAge == period - 2
    }
  }

  /// Waits until it holds of all visitors, or until one was shown what must not be.
  func wait(
    _ what: String, _ visitors: [Visitor], _ condition: (Visitor.State) -> Bool
  ) throws {
    let client = HTTPClient(varnish.base)
    try eventually(what + ": \(visitors.map { $0.read { "\($0.score ?? -1)" } })") {
      if let problem = visitors.lazy.compactMap({ $0.read(\.problem) }).first {
        throw ContractViolation(problem)
      }
      _ = try? client.get("/healthz")
      return visitors.allSatisfy { $0.read(condition) }
    }
  }

  /// Waits until all visitors are shown the present.
  func waitForAll(_ visitors: [Visitor]) throws {
    try wait("all are shown \(score)", visitors) { $0.score == score }
  }
}

extension [Visitor] {
  fileprivate var connections: (least: Int, most: Int) {
    let counts = map { $0.read(\.connections) }
    return (counts.min() ?? 0, counts.max() ?? 0)
  }

  fileprivate func leave() { for visitor in self { visitor.leave() } }
}

@Suite(.endToEnd, .enabled(if: Varnish.isInstalled), .serialized)
struct `Behind Varnish` {
  @Test func `hundreds of clients are one stream at the server, and are shown everything`() throws {
    let period = 6
    let world = try SharedServer(period: period, others: 10_000)
    try world.waitForRotation(period: period)
    let start = ContinuousClock.now
    var visitors = world.visitors(400)
    defer { visitors.leave() }
    try world.waitForAll(visitors)
    // Others come in while it goes on, and are shown what was told before they came.
    for _ in 0..<5 {
      try world.commit()
      visitors += world.visitors(20)
      try world.waitForAll(visitors)
    }
    for _ in 0..<5 { try world.commit() }
    try world.waitForAll(visitors)
    // Whoever was not quick enough came in after the first end: then it is one more.
    let rotations = Int(start.duration(to: .now).components.seconds) / period
    #expect(try world.metric("streams_total") <= 1 + 2 * rotations)
    #expect(try world.metric("streams") == 1)

    // All come back together, with the id that was last.
    try world.wait("all have come back", visitors) { $0.connections >= 2 && $0.isServed }
    let (streams, before) = (try world.metric("streams_total"), visitors.connections)
    for _ in 0..<5 { try world.commit() }
    try world.waitForAll(visitors)
    // A quiet while: nothing is told, and one comes back once.
    try world.wait("all have come back", visitors) { $0.connections >= before.most + 2 }
    #expect(
      try world.metric("streams_total") <= streams + visitors.connections.most - before.least)
    let elapsed = Int(start.duration(to: .now).components.seconds)
    #expect(visitors.connections.most <= elapsed / period + 2)
    try world.commit()
    try world.waitForAll(visitors)
    for visitor in visitors {
      #expect(visitor.read(\.snapshots) == 1)
      #expect(visitor.read { $0.scores.last } == world.score)
    }
  }

  @Test(arguments: [
    "/metrics", "/%6Detrics", "//metrics", "/./metrics", "/%2e/metrics", "/v1/../metrics",
  ])
  func `the server's numbers are for operators`(path: String) throws {
    let world = try SharedServer(period: 60, others: 1)
    let client = HTTPClient(world.varnish.base)
    #expect(try client.get(path).status == 403)
    #expect(try client.get("/v1/queries/match/records").status == 200)
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `clients live through a restart of the server`(signal: Int32) throws {
    let world = try SharedServer(period: 3, others: 10_000)
    let visitors = world.visitors(50)
    defer { visitors.leave() }
    try world.commit()
    try world.waitForAll(visitors)
    let before = visitors.connections
    try world.restart(signal) {
      // The server is away until all have come back in vain.
      try world.wait("all have come back", visitors) { $0.connections > before.most + 1 }
    }
    try world.wait("all are served again", visitors) { $0.isServed }
    try world.commit()
    try world.waitForAll(visitors)
    // What they had was still so.
    for visitor in visitors { #expect(visitor.read(\.snapshots) == 1) }
    try world.restart(signal) {
      for _ in 0..<3 { try world.commit() }
    }
    try world.waitForAll(visitors)
    for visitor in visitors { #expect(visitor.read(\.snapshots) <= 2) }
    try world.commit()
    try world.waitForAll(visitors)
  }

  @Test func `slow clients and those who leave lose nothing and are told nothing twice`() throws {
    let world = try SharedServer(period: 4, others: 1_000_000)
    let visitors = world.visitors(20)
    defer { visitors.leave() }
    try world.waitForAll(visitors)
    for round in 0..<3 {
      // Over the end of a stream, and over some commits of many bytes.
      visitors[0].pause()
      let connections = visitors[1].read(\.connections)
      for number in 0..<10 {
        try world.commit(note: 20_000)
        visitors[1 + (round * 10 + number) % 15].leaveAndReturn()
      }
      try world.waitForAll(Array(visitors[1...]))
      try world.wait("the others come back", [visitors[1]]) { $0.connections > connections + 1 }
      #expect(visitors[0].score ?? 0 < world.score)
      visitors[0].goOn()
      try world.waitForAll(visitors)
    }
    for visitor in visitors { #expect(visitor.read(\.snapshots) == 1) }
  }

  @Test func `nobody is shown what is a caller's own`() throws {
    let shop = try Shop(words: "caches: {streams: 3s}\n")
    let port = try #require(shop.fixture.base.split(separator: ":").last)
    let varnish = try Varnish(before: String(port))
    func stream(_ query: String, _ fields: [String] = [], _ items: String = "") -> EventStream {
      EventStream(varnish.base, "/v1/queries/\(query)/events\(items)", .init(fields: fields))
    }
    let ticket = try shop.ticket(as: "bob")
    for (fields, items, customer) in [
      (Shop.bearer("ann"), "", 7), (Shop.cookie("bob"), "", 8),
      (["Cookie: a=b; \(Shop.cookie("ann")[0].dropFirst(8))"], "", 7),
      ([], "?access_token=\(ticket)", 8),
    ] {
      let own = stream("orders", fields, items)
      #expect(try own.head()["Cache-Control"] == "private, no-cache, no-transform")
      let record = try #require(try own.next()).json["records"].elements.first?["record"]
      #expect(record?["customer"].int == customer)
      #expect(try stream("orders").head().status == 401)
      #expect(try stream("notices").next()?.type == "snapshot")
    }
    // A ticket is good once, however it is asked.
    #expect(try stream("orders", [], "?access_token=\(ticket)").head().status == 401)
    let answer = try HTTPClient(varnish.base).get("/v1/queries/orders/records", Shop.bearer("ann"))
    #expect(answer.status == 200)
    #expect(try HTTPClient(varnish.base).get("/v1/queries/orders/records").status == 401)
  }
}
