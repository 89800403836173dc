import Foundation
import GRDB
import OrderedResults
import TestSupport
import Testing

@testable import FetchedRecords

/// Random transactions of the writer, of another connection and of another process, with requests
/// that change, fetches, and fetches that fail; what controllers tell is replayed and held against
/// plain SELECTs.
///
/// `DIDCHANGE_STEPS` is the number of transactions, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random controllers` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 400
  static let seed = RandomSource.seed

  @Test(arguments: Storage.allCases)
  func `in batches tell what turns the old keys into the new ones`(storage: Storage) throws {
    var random = RandomSource(seed: Self.seed)
    let world = try ControllerWorld(storage, schema: RandomControllerRun.schema)
    let controller = try BatchedRecordsController(
      world.writer, request: Player.filter(Column("score") > 1).order(Column("name"), Column("id")),
      fetchBatchSize: 4, sectionName: Column("team"), queue: world.queue)
    var changes: [FetchedRecordChange] = []
    var updated: Set<Int64> = []
    try world.onQueue {
      controller.trackChanges(onChange: { changes.append($1) })
      try controller.performFetch()
    }
    var shown: [Player] = []
    for step in 0..<Self.steps / 8 {
      let sql = RandomControllerRun.statement(using: &random)
      try world.write(sql)
      controller.core.engine.settle()
      world.onQueue {}
      let expected = try world.players(
        Player.filter(Column("score") > 1).order(Column("team"), Column("name"), Column("id")))
      try world.onQueue {
        let records = try controller.records(in: 0..<controller.numberOfRecords)
        #expect(records == expected, "step \(step), DIDCHANGE_SEED=\(Self.seed): \(sql)")
        let old = Dictionary(uniqueKeysWithValues: shown.map { ($0.id, $0) })
        updated = Set(records.filter { $0 != (old[$0.id] ?? $0) }.map(\.id))
        let told = changes.compactMap { change -> Int64? in
          switch change {
          case .update(let place, _), .move(_, let place, _):
            return (try? controller.record(at: place))??.id
          case .insertion, .deletion: return nil
          }
        }
        // Whatever changed was told; what only shifted may have been told too.
        #expect(updated.isSubset(of: told), "step \(step), DIDCHANGE_SEED=\(Self.seed): \(sql)")
        let insertions = changes.count { if case .insertion = $0 { true } else { false } }
        let deletions = changes.count { if case .deletion = $0 { true } else { false } }
        #expect(records.count == shown.count + insertions - deletions)
        (shown, changes) = (records, [])
      }
    }
  }

  @Test(arguments: Storage.allCases)
  func `tell what turns the old records into what a plain SELECT returns`(storage: Storage) throws {
    print("random controllers (\(storage)): DIDCHANGE_SEED=\(Self.seed), \(Self.steps) steps")
    var run = try RandomControllerRun(seed: Self.seed, storage: storage)
    for step in 0..<Self.steps / 4 { try run.step(step) }
    try run.checkSomethingHappened()
  }
}

/// One run: a database, and controllers of it that ask for one thing after the other.
struct RandomControllerRun {
  /// A request, and the SELECT that says what its result is: the section's name first.
  private struct Wish {
    let request: any FetchRequest<Player>
    var section: Column?
    var closure: (@Sendable (Player) -> String?)?
    let oracle: String
  }

  private final class Watched {
    let controller: FetchedRecordsController<Player>
    let listener = Listener<Player>()
    var wish: Int

    init(_ controller: FetchedRecordsController<Player>, _ wish: Int) {
      (self.controller, self.wish) = (controller, wish)
    }
  }

  private static let wishes: [Wish] = [
    Wish(
      request: DeclaredRequest<Player>(table: "player", order: ["name", "score DESC"]),
      section: Column("team"),
      oracle: """
        SELECT team, id, name, team, score FROM player ORDER BY team, name, score DESC, id DESC
        """),
    Wish(
      request: DeclaredRequest<Player>(
        table: "player", predicate: "score < :most AND name <> ''", order: ["score"],
        arguments: ["most": 7]),
      closure: { String($0.score % 10) },
      oracle: """
        SELECT score % 10, id, name, team, score FROM player WHERE score < 7 AND name <> ''
        ORDER BY score, id
        """),
    Wish(
      request: Player.order(Column("name"), Column("id")),
      oracle: "SELECT NULL, id, name, team, score FROM player ORDER BY name, id"),
    Wish(
      request: Player.order(Column("name").desc, Column("id")), section: Column("team"),
      oracle: "SELECT team, id, name, team, score FROM player ORDER BY team, name DESC, id"),
    Wish(
      request: Player.filter(Column("score") > 3).order(Column("score"), Column("id").desc),
      oracle: """
        SELECT NULL, id, name, team, score FROM player WHERE score > 3 ORDER BY score, id DESC
        """),
    Wish(
      request: Player.order(Column("score"), Column("id")), section: Column("score"),
      oracle: "SELECT score, id, name, team, score FROM player ORDER BY score, id"),
    Wish(
      request: Player.order(Column("name"), Column("id")),
      closure: { String($0.name.prefix(1)) },
      oracle: """
        SELECT substr(name, 1, 1), id, name, team, score FROM player ORDER BY name, id
        """),
    Wish(
      request: Player.order(Column("score").desc, Column("id")).limit(4, offset: 1),
      oracle: """
        SELECT NULL, id, name, team, score FROM player ORDER BY score DESC, id LIMIT 4 OFFSET 1
        """),
    Wish(
      request: Player.filter(keys: [1, 2, 3]).order(Column("id")),
      oracle: "SELECT NULL, id, name, team, score FROM player WHERE id < 4 AND id > 0 ORDER BY id"),
  ]

  static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT,
      score INTEGER NOT NULL DEFAULT 0);
    CREATE UNIQUE INDEX byNameAndTeam ON player (name, team);
    CREATE INDEX byScore ON player (score);
    """

  private let world: ControllerWorld
  private let storage: Storage
  private let seed: UInt64
  private var random: RandomSource
  private var watched: [Watched] = []
  private let other: DatabaseQueue?
  private var history: [String] = []
  private var changeSets = 0
  private var failures = 0

  init(seed: UInt64, storage: Storage) throws {
    (self.seed, self.storage) = (seed, storage)
    random = RandomSource(seed: seed)
    world = try ControllerWorld(
      storage,
      schema: Self.schema)
    if storage == .memory {
      other = nil
    } else {
      var configuration = Configuration()
      configuration.busyMode = .timeout(20)
      other = try DatabaseQueue(path: world.path, configuration: configuration)
    }
    for wish in Self.wishes.indices { watched.append(try watch(wish)) }
  }

  private func watch(_ index: Int) throws -> Watched {
    let controller = try makeController(Self.wishes[index].request, Self.wishes[index])
    let watched = Watched(controller, index)
    try world.onQueue {
      watched.listener.track(controller)
      try controller.performFetch()
      watched.listener.begin(with: controller)
    }
    return watched
  }

  private func makeController(
    _ request: some FetchRequest<Player>, _ wish: Wish
  ) throws -> FetchedRecordsController<Player> {
    if let closure = wish.closure {
      return try FetchedRecordsController(
        world.writer, request: request, sectionName: closure, queue: world.queue)
    }
    return try FetchedRecordsController(
      world.writer, request: request, sectionName: wish.section, queue: world.queue)
  }

  mutating func step(_ step: Int) throws {
    try write()
    if random.once(in: 3) { try disturb() }
    if random.once(in: 12) { try failAndRecover() }
    // The watchers' own time is none of this test's business.
    watched[0].controller.core.engine.refresh()
    world.settle(watched[0].controller)
    try world.onQueue {
      for watched in watched { try check(watched, step) }
    }
  }

  mutating func checkSomethingHappened() throws {
    #expect(changeSets > 0)
    // In a short run all may have met controllers that no longer listened.
    for _ in 0..<20 where failures == 0 { try failAndRecover() }
    #expect(failures > 0)
  }

  // MARK: - Writing

  private mutating func write() throws {
    let sql = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.statement(using: &random)
    }
    .joined(separator: ";\n")
    let isRolledBack = random.once(in: 10)
    switch Int.random(in: 0..<(other == nil ? 4 : 8), using: &random) {
    case 0..<4:
      history.append("own\(isRolledBack ? ", rolled back" : ""): \(sql)")
      try world.writer.writeWithoutTransaction { db in
        try db.inTransaction {
          try db.execute(sql: sql)
          return isRolledBack ? .rollback : .commit
        }
      }
    case 7 where random.once(in: 4):
      history.append("process: \(sql)")
      let process = try SpawnedProcess(
        "sqlite3", ["-cmd", ".timeout 20000", world.path, "BEGIN IMMEDIATE; \(sql); COMMIT"])
      #expect(process.exitCode(within: 60) == 0)
    default:
      history.append("other: \(sql)")
      try other?.write { try $0.execute(sql: sql) }
    }
  }

  static func statement(using random: inout RandomSource) -> String {
    let id = Int.random(in: 1...30, using: &random)
    let score = Int.random(in: 0...9, using: &random)
    let name = random.pick(["a", "A", "b", "ab", "Zoe", "é", "", "x''y"])
    let team = random.pick(["NULL", "''", "'Blue'", "'blue'", "'Red'", "'Rosé'"])
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1, 2:
      return "INSERT OR REPLACE INTO player VALUES (\(id), '\(name)', \(team), \(score))"
    case 3:
      return "UPDATE OR REPLACE player SET name = '\(name)', team = \(team) WHERE id = \(id)"
    case 4: return "UPDATE player SET score = \(score) WHERE id BETWEEN \(id) AND \(id + 5)"
    case 5: return "UPDATE OR REPLACE player SET id = \(score) WHERE id = \(id)"
    case 6: return "DELETE FROM player WHERE id % 7 = \(id % 7)"
    case 7: return "UPDATE OR IGNORE player SET team = \(team) WHERE score = \(score)"
    default: return random.once(in: 10) ? "DELETE FROM player" : "UPDATE player SET name = name"
    }
  }

  // MARK: - Other things that happen

  private mutating func disturb() throws {
    let index = watched.indices.randomElement(using: &random) ?? 0
    let one = watched[index]
    switch Int.random(in: 0..<4, using: &random) {
    case 0, 1:
      one.wish = Self.wishes.indices.randomElement(using: &random) ?? 0
      history.append("controller \(index) asks for \(one.wish)")
      let wish = Self.wishes[one.wish]
      try world.onQueue {
        if let closure = wish.closure {
          try one.controller.setRequest(wish.request, sectionName: closure)
        } else {
          try one.controller.setRequest(wish.request, sectionName: wish.section)
        }
      }
    case 2:
      history.append("controller \(index) fetches")
      try world.onQueue {
        try one.controller.performFetch()
        one.listener.begin(with: one.controller)
      }
    default:
      history.append("controller \(index) is tracked anew")
      world.onQueue { one.listener.track(one.controller) }
    }
    if random.once(in: 2) { try write() }
  }

  private mutating func failAndRecover() throws {
    let breaking = random.pick([
      "ALTER TABLE player RENAME TO gone", "INSERT INTO player VALUES (99, 'odd', NULL, 'many')",
      "ALTER TABLE player RENAME COLUMN score TO points",
    ])
    let mending = [
      "ALTER TABLE player RENAME TO gone": "ALTER TABLE gone RENAME TO player",
      "INSERT INTO player VALUES (99, 'odd', NULL, 'many')": "DELETE FROM player WHERE id = 99",
      "ALTER TABLE player RENAME COLUMN score TO points":
        "ALTER TABLE player RENAME COLUMN points TO score",
    ]
    history.append("fails: \(breaking)")
    try world.write(breaking)
    world.settle(watched[0].controller)
    if random.once(in: 2), let one = watched.randomElement(using: &random) {
      // It may fail or not; what is shown must be whole in both cases.
      try? world.onQueue {
        try one.controller.performFetch()
        one.listener.begin(with: one.controller)
      }
    }
    failures += world.onQueue { watched.map(\.listener.errors.count).reduce(0, +) }
    let mend = mending[breaking] ?? ""
    history.append("mends: \(mend)")
    try world.write(mend)
  }

  // MARK: - Checking

  private mutating func check(_ one: Watched, _ step: Int) throws {
    let rows = try world.writer.read { try Row.fetchAll($0, sql: Self.wishes[one.wish].oracle) }
    let expected = rows.map { row in
      [(row[0] as DatabaseValue).asText, row[1], row[2], row[3], row[4]]
    }
    let shown = one.controller.sections.flatMap { section in
      section.records.map { player in
        [
          section.databaseName.asText, player.id.databaseValue, player.name.databaseValue,
          player.team.databaseValue, player.score.databaseValue,
        ]
      }
    }
    changeSets += one.listener.countsAtDidChange.count
    let isRight =
      shown == expected && one.listener.isInStep(with: one.controller)
      && !one.listener.hasMoveInPlace
    one.listener.forget()
    if isRight { return }
    struct Mismatch: Error, CustomStringConvertible {
      let description: String
    }
    throw Mismatch(
      description: """
        step \(step), request \(one.wish), \(storage); DIDCHANGE_SEED=\(seed)
        shown    \(shown)
        expected \(expected)
        in step: \(one.listener.isInStep(with: one.controller))
        \(history.suffix(8).joined(separator: "\n"))
        """)
  }
}

extension Listener {
  /// Whether a record was told to move to where it was, and no section changed.
  var hasMoveInPlace: Bool {
    guard sectionChanges.isEmpty else { return false }
    return changes.contains { change in
      if case .move(let old, let new, _) = change { old == new } else { false }
    }
  }
}

extension DatabaseValue {
  /// Closures name sections in text.
  fileprivate var asText: DatabaseValue {
    (String.fromDatabaseValue(self) ?? Int.fromDatabaseValue(self).map(String.init)).databaseValue
  }
}
