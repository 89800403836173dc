import Foundation
import RecordsAPI
import TestSupport
import Testing

/// `POLL_STEPS` is the number of rounds, and `DIDCHANGE_SEED` begins with the same choices again.
@Suite(.endToEnd) struct `Random polls` {
  private static let steps = RandomSource.number("POLL_STEPS") ?? 120
  private static let order = "SELECT * FROM player ORDER BY team, name, id"

  private struct Client {
    let poller: Poller
    let sql: String
    let client: HTTPClient
    var waiting: EventStream?
  }

  private static func change(_ random: inout RandomSource) -> String {
    let id = random.number(1...40)
    let team = random.pick(["Blue", "Green", "Red", "Zzz"])
    return switch random.number(0...5) {
    case 0: "DELETE FROM player WHERE id = \(id)"
    case 1: "DELETE FROM player WHERE team = '\(team)'"
    case 2: "UPDATE player SET team = '\(team)' WHERE id BETWEEN \(id) AND \(id + 3)"
    case 3: "UPDATE player SET score = score + 1"
    default:
      "INSERT OR REPLACE INTO player VALUES (\(id), 'Name \(random.next() % 99)', '\(team)', 0)"
    }
  }

  /// Clients that ask when they like, wait or not, and miss some: each comes to what a SELECT shows.
  @Test(arguments: JournalMode.kinds)
  func `come to what a SELECT shows`(journal: JournalMode) throws {
    var random = RandomSource(seed: RandomSource.seed)
    print("random polls: DIDCHANGE_SEED=\(RandomSource.seed) POLL_STEPS=\(Self.steps)")
    let fixture = try ServerFixture(
      Teams.schema + Teams.others(60), journal: journal, queries: Teams.query,
      // Now and then a version is too old.
      feeds: { ($0.logCount, $0.rememberedStates) = (8, 4) })
    let writer = try fixture.writer()
    var clients = [
      ("", ""), ("offset=2&limit=9", " LIMIT 9 OFFSET 2"), ("minInterval=20", ""),
      ("limit=5&minInterval=5", " LIMIT 5"), ("", ""),
    ].map { items, sql in
      Client(
        poller: Poller("players", items), sql: Self.order + sql, client: fixture.client())
    }
    do {
      for step in 0..<Self.steps {
        for index in clients.indices where random.once(in: 2 + index) {
          try Self.act(&clients[index], fixture, &random)
        }
        try writer.commit(Self.change(&random))
        if step % 20 == 19 { try Self.settle(&clients, fixture, writer, step) }
      }
    } catch {
      throw ContractViolation("DIDCHANGE_SEED=\(RandomSource.seed): \(error)")
    }
  }

  private static func act(
    _ client: inout Client, _ fixture: ServerFixture, _ random: inout RandomSource
  ) throws {
    if let waiting = client.waiting {
      if random.once(in: 4) {
        // It may be answered just now: the answer is lost, and asked for again.
        waiting.close()
      } else {
        try client.poller.take(try waiting.answer())
      }
      client.waiting = nil
    } else if random.once(in: 2) {
      client.waiting = fixture.stream(client.poller.url(wait: 5))
    } else {
      try client.poller.poll(client.client)
    }
  }

  private static func settle(
    _ clients: inout [Client], _ fixture: ServerFixture, _ writer: ForeignWriter, _ step: Int
  ) throws {
    // Every client's last record says when it has caught up.
    let truth = try clients.map { try fixture.database.select($0.sql) }
    for index in clients.indices {
      clients[index].waiting?.close()
      clients[index].waiting = nil
      let poller = clients[index].poller
      try eventually("client \(index) shows step \(step)") {
        try poller.poll(clients[index].client)
        return poller.model.records.map(\.values) == truth[index]
      }
    }
  }
}
