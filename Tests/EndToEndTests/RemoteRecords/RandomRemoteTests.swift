import Foundation
import TestSupport
import Testing

@testable import FetchedRecordsClient

/// The Swift client over connections that break anywhere, while it asks for one thing after another,
/// shows what a plain SELECT returns.
///
/// `REMOTE_STEPS` is the number of rounds, and `DIDCHANGE_SEED` begins with the same ones again.
@Suite(.promptTasks, .endToEnd, .serialized) struct `Random remote controllers` {
  static let steps = RandomSource.number("REMOTE_STEPS") ?? 80

  @Test func `show what a SELECT returns`() throws {
    print(
      "random remote controllers: DIDCHANGE_SEED=\(RandomSource.seed) REMOTE_STEPS=\(Self.steps)")
    var run = try RandomRemoteRun(seed: RandomSource.seed)
    for step in 0..<Self.steps { try run.round(step) }
    // What this test is for has happened.
    #expect(run.cuts > Self.steps / 16, "DIDCHANGE_SEED=\(RandomSource.seed)")
    #expect(run.changeSets > Self.steps / 4, "DIDCHANGE_SEED=\(RandomSource.seed)")
  }
}

private struct RandomRemoteRun {
  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score);
    INSERT INTO player SELECT value, 'player ' || value % 50, 'T' || value % 5, value % 9
      FROM generate_series(1, 200);
    """
  private static let queries = """
    players:
      sql: |
        SELECT id, name, team, score FROM player WHERE score >= :least OR score IS NULL
        ORDER BY team, name, id
      section: team
      key: [id]
      parameters: {least: {type: integer, default: 0}}
    """

  private let fixture: ServerFixture
  private let proxy: CuttingProxy
  private let writer: ForeignWriter
  private let spectator: Spectator<AnyRecord>
  private var random: RandomSource
  /// What is asked for.
  private var least = 0
  private var window: Range<Int>?
  /// The statements so far, for whoever looks into a failure.
  private var history: [String] = []

  var cuts: Int { proxy.numberOfCuts }
  var changeSets: Int { spectator.read { $0.changes.count { !$0.isReset } } }

  init(seed: UInt64) throws {
    random = RandomSource(seed: seed)
    fixture = try ServerFixture(Self.schema, queries: Self.queries)
    proxy = try CuttingProxy(fixture.base)
    writer = try fixture.writer()
    spectator = Spectator(
      RemoteRecordsController<AnyRecord>(
        try fixture.query("players", by: proxy),
        settings: LinkSettings(longestWait: .milliseconds(20), testsConnection: false)))
    try spectator.wait(until: "it is live") { $0.state == .live }
  }

  mutating func round(_ step: Int) throws {
    if random.once(in: 3) { proxy.cut(after: random.number(1...random.pick([50, 2000, 40_000]))) }
    for _ in 0..<random.number(1...4) {
      let transaction = (0..<random.number(1...6)).map { _ in statement() }
      history += transaction
      try writer.commit(transaction.joined(separator: ";"))
      if random.once(in: 4) { proxy.cut() }
      if random.once(in: 4) { ask() }
    }
    try expectTruth("DIDCHANGE_SEED=\(RandomSource.seed), round \(step): \(history.suffix(12))")
  }

  private mutating func ask() {
    if random.once(in: 2) { least = random.number(0...6) }
    if random.once(in: 2) {
      let start = random.number(0...40)
      window = random.once(in: 2) ? nil : start..<start + random.number(1...60)
    }
    spectator.ask { [least, window] request in
      request.parameters = ["least": "\(least)"]
      request.window = window
    }
  }

  private func expectTruth(_ comment: Comment) throws {
    let wanted = try select()
    do {
      try spectator.wait(until: "what a SELECT returns") { told in
        told.shown?.parameters["least"] ?? "0" == "\(least)" && told.shown?.window == window
          && Array(told.records) == wanted
      }
    } catch let error as TimedOut {
      Issue.record("\(error): \(comment.rawValue)")
      throw error
    }
    let records = spectator.read(\.records)
    let runs = records.sections.flatMap { section in section.records.map { _ in section.value } }
    #expect(runs == wanted.map { $0["team"] ?? .null }, comment)
    #expect(Array(records) == wanted, comment)
  }

  private func select() throws -> [AnyRecord] {
    let range = window.map { " LIMIT \($0.count) OFFSET \($0.lowerBound)" } ?? ""
    return try fixture.database.select(
      """
      SELECT id, name, team, score FROM player WHERE score >= \(least) OR score IS NULL
      ORDER BY team, name, id\(range)
      """
    ).map { AnyRecord(json: $0) }
  }

  private mutating func statement() -> String {
    let id = random.number(1...220)
    switch random.number(0...8) {
    case 0: return "DELETE FROM player WHERE id = \(id)"
    case 1: return "DELETE FROM player WHERE id BETWEEN \(id) AND \(id + random.number(0...30))"
    case 2:
      return "UPDATE player SET score = \(random.pick(["1", "2.5", "NULL", "8"])) WHERE id = \(id)"
    case 3: return "UPDATE player SET team = 'T\(random.number(0...6))' WHERE id % 7 = \(id % 7)"
    case 4:
      return
        "UPDATE player SET name = name || '\(random.pick(["x", "é", "\"", "\\\\"]))' WHERE id = \(id)"
    case 5: return "UPDATE player SET name = 'player ' || (id * 7 % 50) WHERE id % 11 = \(id % 11)"
    default:
      return "INSERT OR REPLACE INTO player VALUES (\(id), 'player \(id % 50)', "
        + "'T\(random.number(0...6))', \(random.number(0...9)))"
    }
  }
}
