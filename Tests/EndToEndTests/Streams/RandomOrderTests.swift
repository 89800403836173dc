import TestSupport
import Testing

/// A client that goes on from one request to another of the same query, among its orders, parameters
/// and windows, while others write.
///
/// `ORDER_STEPS` is the number of requests, and `DIDCHANGE_SEED` begins with the same ones again.
@Suite(.endToEnd) struct `Random orders` {
  private static let steps = RandomSource.number("ORDER_STEPS") ?? 60
  private static let orders: [(name: String, terms: String)] = [
    ("name", "name COLLATE NOCASE, id"), ("best", "score DESC, name, id"),
    ("short", "length(name), id"), ("teams", "team, score, id"),
  ]

  /// What is asked for.
  private struct Request {
    var order = `Random orders`.orders[0]
    var least = 0
    /// Offset and limit; nil: the whole.
    var window: (offset: Int, limit: Int)?

    /// Asks for something else: mostly for one other thing, so that what leads there is less than all.
    mutating func change(using random: inout RandomSource) {
      repeat {
        switch random.number(0...3) {
        case 0: order = `Random orders`.orders[random.number(0...3)]
        case 1: least = random.number(0...4) * 10
        case 2: window = (random.number(0...40), random.number(1...30))
        default: window = nil
        }
      } while random.once(in: 4)
    }

    var path: String {
      let part = window.map { "&offset=\($0.offset)&limit=\($0.limit)" } ?? ""
      return "/v1/queries/players/events?order=\(order.name)&least=\(least)\(part)"
    }

    var sql: String {
      let part = window.map { " LIMIT \($0.limit) OFFSET \($0.offset)" } ?? ""
      return "SELECT * FROM player WHERE score >= \(least) ORDER BY \(order.terms)\(part)"
    }
  }

  private static func statement(using random: inout RandomSource) -> String {
    let id = random.number(1...90)
    return switch random.number(0...4) {
    case 0: "DELETE FROM player WHERE id = \(id)"
    case 1: "UPDATE player SET score = \(random.number(0...50)) WHERE id % 17 = \(id % 17)"
    case 2: "UPDATE player SET name = upper(name) WHERE id = \(id)"
    case 3: "UPDATE player SET team = 'T' || \(id % 3) WHERE id = \(id)"
    default:
      "INSERT OR REPLACE INTO player VALUES (\(id), 'n' || \(id * 7 % 60), 'T1', \(id * 13 % 50))"
    }
  }

  @Test func `lead from each to each, whatever is written meanwhile`() throws {
    print("random orders: DIDCHANGE_SEED=\(RandomSource.seed) ORDER_STEPS=\(Self.steps)")
    var random = RandomSource(seed: RandomSource.seed)
    let fixture = try ServerFixture(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
      INSERT INTO player
        SELECT value, char(97 + value * 7 % 26, 65 + value * 11 % 26) || value,
          'T' || value % 3, value * 13 % 50
        FROM generate_series(1, 60);
      """,
      queries: """
        players:
          table: player
          parameters: {least: {type: integer}}
          where: score >= :least
          orders:
            name: [name COLLATE NOCASE]
            best: [score DESC, name]
            short: [length(name)]
            teams: [team, score]
        """)
    let writer = try fixture.writer()
    var model = ClientModel()
    // Each result says which commit changed it last.
    model.ignoresCommits = true
    var request = Request()
    var snapshots = 0
    for step in 0..<Self.steps {
      request.change(using: &random)
      let comment = "step \(step), \(request.path), DIDCHANGE_SEED=\(RandomSource.seed)"
      let options = EventStream.Options(lastEventID: model.version.isEmpty ? nil : model.version)
      let follower = Follower(fixture.stream(request.path, options), model: model)
      // Before it has begun, or while it does, or after.
      for _ in 0..<random.number(0...2) { try writer.commit(Self.statement(using: &random)) }
      #expect(try follower.stream.head().status == 200, "\(comment)")
      try eventually(comment) {
        while !follower.stream.waiting.isEmpty || follower.model.version.isEmpty {
          if case .snapshot = try follower.next() { snapshots += 1 }
        }
        let shown = follower.model.records.map(\.values)
        return try shown == fixture.database.select(request.sql)
      }
      follower.stream.close()
      model = follower.model
    }
    print("\(Self.steps) requests, \(snapshots) snapshots")
    // The states are remembered, and where there is less to tell than all, that is told.
    #expect(snapshots < Self.steps * 9 / 10)
  }
}
