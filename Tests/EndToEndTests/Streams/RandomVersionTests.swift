import TestSupport
import Testing

/// Servers of the same content, whatever they have come through, name it alike; and whatever shows
/// otherwise has another name.
///
/// `VERSION_STEPS` is the number of rounds, and `DIDCHANGE_SEED` begins with the same ones again.
@Suite(.endToEnd, .serialized) struct `Random versions` {
  static let steps = RandomSource.number("VERSION_STEPS") ?? 25

  @Test func `agree where servers show the same, and nowhere else`() throws {
    print("random versions: DIDCHANGE_SEED=\(RandomSource.seed) VERSION_STEPS=\(Self.steps)")
    var run = try RandomVersionsRun(seed: RandomSource.seed)
    for _ in 0..<Self.steps { try run.round() }
    // What this test is for has happened.
    #expect(run.numberOfStates > Self.steps)
    #expect(run.agreements > Self.steps)
    #expect(run.resumptions > 0)
  }
}

/// A server of a file in WAL mode, told of each commit; one of the same file that keeps a cache and is
/// started again now and then; and one of another file, in rollback mode, in which all transactions of
/// a round are one.
private struct RandomVersionsRun {
  private static let schema = """
    CREATE TABLE team (id INTEGER PRIMARY KEY, title TEXT);
    INSERT INTO team VALUES (1, 'Blue'), (2, 'Red'), (3, 'red'), (4, NULL);
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team INTEGER, score);
    INSERT INTO player SELECT value, 'player ' || value % 50, 1 + value % 4, value % 9
      FROM generate_series(1, 150);
    """
  private static let queries = """
    players: {table: player, order: [team, name], section: team, cache: true}
    joined:
      sql: SELECT player.name, score, title FROM player JOIN team ON team.id = player.team ORDER BY score
      alongside: {n: SELECT count(*) FROM player}
    keyless: {sql: SELECT score FROM player ORDER BY score, cache: true}
    grouped: {sql: "SELECT team, count(*) AS n, total(score) AS score FROM player GROUP BY team"}
    ordered: {table: player, section: team, orders: {best: [score DESC], name: [name]}}
    some: {table: player, where: "score < :least", parameters: {least: {type: integer}}}
    """
  private static let paths = [
    "players/events", "joined/events", "keyless/events", "grouped/events", "some/events?least=4",
    "ordered/events?order=best", "ordered/events?order=name",
    "players/events?offset=20&limit=30", "joined/events?limit=7", "keyless/events?offset=100",
  ]

  private let first: ServerFixture
  private var restarted: ServerFixture
  private let joined: ServerFixture
  private let writer: ForeignWriter
  private let other: ForeignWriter
  private var random: RandomSource
  private var stateOf: [String: Substring] = [:]
  private var contentOf: [Substring: String] = [:]
  private(set) var agreements = 0
  private(set) var resumptions = 0

  var numberOfStates: Int { stateOf.count }

  init(seed: UInt64) throws {
    random = RandomSource(seed: seed)
    first = try ServerFixture(Self.schema, queries: Self.queries)
    restarted = try ServerFixture(beside: first)
    joined = try ServerFixture(Self.schema, journal: .delete, queries: Self.queries)
    writer = try first.writer()
    other = try joined.writer()
  }

  mutating func round() throws {
    let transactions = (0..<random.number(1...4)).map { _ in statements() }
    for transaction in transactions { try writer.commit(transaction) }
    try other.commit(transactions.joined(separator: ";"))
    if random.once(in: 3) {
      restarted.drain()
      restarted = try ServerFixture(beside: first)
    }
    for path in Self.paths where random.once(in: 2) { try look(path) }
  }

  private mutating func statements() -> String {
    (0..<random.number(1...3)).map { _ in statement() }.joined(separator: ";")
  }

  private mutating func statement() -> String {
    let id = random.number(1...180)
    switch random.number(0...7) {
    case 0: return "DELETE FROM player WHERE id = \(id)"
    case 1: return "UPDATE player SET score = \(random.number(0...9)) WHERE id = \(id)"
    // 1 and 1.0 are shown otherwise; NULL and the text of a number, too.
    case 2:
      let value = ["1", "1.0", "NULL", "'1'", "x'31'", "0.5"][random.number(0...5)]
      return "UPDATE player SET score = \(value) WHERE id = \(id)"
    case 3: return "UPDATE player SET team = \(random.number(1...4)) WHERE id = \(id)"
    case 4: return "UPDATE team SET title = 'T\(random.number(1...3))' WHERE id = \(1 + id % 4)"
    // There and back again.
    case 5:
      return "UPDATE player SET name = name || 'x' WHERE id = \(id);"
        + "UPDATE player SET name = replace(name, 'x', '') WHERE id = \(id)"
    default:
      return "INSERT OR REPLACE INTO player VALUES (\(id), 'player \(id % 50)', "
        + "\(random.number(1...4)), \(random.number(0...9)))"
    }
  }

  /// Holds what the servers show against what they call it.
  private mutating func look(_ path: String) throws {
    let path = "/v1/queries/\(path)"
    var ids: [String] = []
    // A window is written when the whole result is shown: it may come a moment later.
    try eventually("all show the same of \(path), DIDCHANGE_SEED=\(RandomSource.seed)") {
      ids = try show(path)
      return Set(ids.map(\.stateOfVersion)).count == 1
    }
    agreements += 1
    try resume(path, ids[random.number(0...2)])
  }

  /// What each server calls what it shows.
  private mutating func show(_ path: String) throws -> [String] {
    let fetch = path.replacing("/events", with: "/fetch").replacing(/\?(offset|limit).*/, with: "")
    var ids: [String] = []
    for server in [first, restarted, joined] {
      // What is shown then is the present.
      #expect(try server.client().post(fetch).status == 200)
      let event = try #require(try server.stream(path).next())
      let data = try event.json
      let content =
        path.prefix { $0 != "?" } + " "
        + ["sections", "records", "alongside", "numberOfRecords"].map { "\(data[$0])" }.joined()
      try note(String(content), event.lastEventID.stateOfVersion, path)
      ids.append(event.lastEventID)
    }
    return ids
  }

  private mutating func note(_ content: String, _ state: Substring, _ path: String) throws {
    let comment: Comment = "\(path), DIDCHANGE_SEED=\(RandomSource.seed)"
    #expect(stateOf[content, default: state] == state, comment)
    #expect(contentOf[state, default: content] == content, comment)
    (stateOf[content], contentOf[state]) = (state, content)
  }

  /// A client goes on wherever it comes to, without a snapshot.
  private mutating func resume(_ path: String, _ id: String) throws {
    for server in [first, restarted, joined] {
      let stream = server.stream(path, .init(lastEventID: id))
      #expect(try stream.head().status == 200)
      try eventually("the stream has begun") { stream.text.contains("\n\n") }
      #expect(
        stream.waiting.isEmpty, "\(path), DIDCHANGE_SEED=\(RandomSource.seed): \(stream.text)")
      resumptions += 1
    }
  }
}
