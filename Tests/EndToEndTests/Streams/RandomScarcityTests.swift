import Foundation
import TestSupport
import Testing

/// Clients that come, go, and come back to a server that has too little of everything, while others
/// write: queries that need a reader, queries that are interrupted, and results of which few fit in.
///
/// `SCARCITY_STEPS` is the number of commits, and `DIDCHANGE_SEED` begins with the same choices again.
@Suite(.endToEnd) struct `Random clients of a server with little` {
  private static let steps = RandomSource.number("SCARCITY_STEPS") ?? 80

  private static let configuration = """
    limits: {memory: 16777216, readers: 2}
    timeouts: {linger: 5, statement: 20}
    queries:
      players: {table: player, order: [score]}
      slow:
        sql: |
          SELECT id, name, score,
            (WITH RECURSIVE n(i) AS (SELECT score UNION ALL SELECT i + 1 FROM n LIMIT :work)
             SELECT count(*) FROM n) AS work
          FROM player ORDER BY id
        parameters: {work: {type: integer}}
      large:
        sql: SELECT id, score, :number AS number, hex(zeroblob(4000)) AS text FROM player ORDER BY id
        parameters: {number: {type: integer}}
      endless:
        sql: |
          WITH RECURSIVE n(i) AS (SELECT :from UNION ALL SELECT i + 1 FROM n)
          SELECT count(*) AS count FROM n, player
        key: [count]
        parameters: {from: {type: integer}}
    """

  /// Somebody who follows one query, and keeps what was shown when the stream ends.
  private struct Client {
    /// The query, with what else is asked for as a URL query.
    let request: String
    let items: String
    let sql: String
    var model = ClientModel()
    var follower: Follower?

    init(_ request: String, _ items: String, _ sql: String) {
      (self.request, self.items, self.sql) = (request, items, sql)
      model.ignoresCommits = true
    }

    mutating func open(_ base: String) {
      let id = model.version.isEmpty ? nil : model.version
      let stream = EventStream(
        base, "/v1/queries/\(request)/events\(items)", .init(lastEventID: id))
      follower = Follower(stream, model: model)
    }

    mutating func close() {
      guard let follower else { return }
      follower.stream.close()
      model = follower.model
      self.follower = nil
    }

    /// Takes what has arrived.
    mutating func take() throws {
      guard let follower else { return }
      while !follower.stream.waiting.isEmpty { _ = try follower.next() }
    }

    /// Whether the server lets it follow.
    mutating func isServed() throws -> Bool {
      guard let follower else { return false }
      let status = try follower.stream.head().status
      if status == 200 { return true }
      guard status == 503 else { throw ContractViolation("\(status): \(follower.stream.text)") }
      close()
      return false
    }
  }

  private static let work = [500, 4000]

  private static var clients: [Client] {
    let slow = work.map { work in
      Client(
        "slow", "?work=\(work)",
        "SELECT id, name, score, \(work) AS work FROM player ORDER BY id")
    }
    let large = [1, 2].map { number in
      Client(
        "large", "?number=\(number)",
        """
        SELECT id, score, \(number) AS number, hex(zeroblob(4000)) AS text FROM player ORDER BY id
        """)
    }
    return slow + large + [
      Client("players", "", "SELECT * FROM player ORDER BY score, id"),
      Client(
        "slow", "?work=1000&offset=3&limit=9",
        "SELECT id, name, score, 1000 AS work FROM player ORDER BY id LIMIT 9 OFFSET 3"),
    ]
  }

  private static func statement(using random: inout RandomSource) -> String {
    let id = random.number(1...40)
    return switch random.number(0...3) {
    case 0: "DELETE FROM player WHERE id = \(id)"
    case 1: "UPDATE player SET score = score + 1 WHERE id % 9 = \(id % 9)"
    default: "INSERT OR REPLACE INTO player VALUES (\(id), 'n\(random.number(0...9))', 'T', \(id))"
    }
  }

  @Test func `come to what a SELECT shows`() throws {
    print("random scarcity: DIDCHANGE_SEED=\(RandomSource.seed) SCARCITY_STEPS=\(Self.steps)")
    let folder = try TemporaryFolder()
    let database = try Database.make(
      folder.file("music.sqlite"), Teams.schema + Teams.others(30), journal: .wal)
    let file = try folder.write(
      "database: \(database.path)\n" + Self.configuration, to: "didchange.yaml")
    let command = try Command.serve(["--config", file])
    let http = HTTPClient(command.base)
    let writer = try ForeignWriter(database.path, tool: .sqlite3)
    var random = RandomSource(seed: RandomSource.seed)
    var clients = Self.clients
    var endless: [EventStream] = []
    do {
      for step in 1...Self.steps {
        try Self.crowd(&endless, command.base, http, &random)
        for index in clients.indices where random.once(in: 3) {
          if clients[index].follower == nil {
            clients[index].open(command.base)
          } else {
            clients[index].close()
          }
        }
        try writer.commit(Self.statement(using: &random))
        guard step % 20 == 0 else { continue }
        endless = []
        for index in clients.indices {
          try Self.settle(&clients[index], command.base, http, database)
        }
      }
      for name in ["evictions_total ", "reads_ended_total{reason=\"abandoned\"} "] {
        let text = try http.get("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix("didchange_\(name)") }
        let count = line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
        #expect(count > 0, "\(name)")
      }
    } catch {
      throw ContractViolation("DIDCHANGE_SEED=\(RandomSource.seed): \(error)")
    }
  }

  /// Others take memory and readers, and give up.
  private static func crowd(
    _ endless: inout [EventStream], _ base: String, _ http: HTTPClient,
    _ random: inout RandomSource
  ) throws {
    for _ in 0..<random.number(0...6) {
      let path = "/v1/queries/large/records?limit=1&number=\(random.number(3...400))"
      let answer = try http.get(path)
      guard [200, 503].contains(answer.status) else { throw ContractViolation(answer.text) }
    }
    if random.once(in: 3) {
      let path = "/v1/queries/endless/events?from=\(random.number(1...9))"
      endless.append(EventStream(base, path))
    }
    if endless.count > 3 { endless.remove(at: 0).close() }
    if random.once(in: 5) { endless.popLast()?.close() }
  }

  private static func settle(
    _ client: inout Client, _ base: String, _ http: HTTPClient, _ database: Database
  ) throws {
    let truth = try database.select(client.sql)
    try eventually("\(client.request)\(client.items) shows what a SELECT shows") {
      guard try http.get("/healthz").status == 200 else { return false }
      if client.follower == nil { client.open(base) }
      guard try client.isServed() else { return false }
      try client.take()
      return client.follower?.model.records.map(\.values) == truth
    }
  }
}
