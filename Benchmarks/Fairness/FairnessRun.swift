import ArgumentParser
import Foundation

/// One server, one attack, and one client whose patience is measured.
final class FairnessRun {
  struct Figures {
    let p50: Double
    let p99: Double
    let slowest: Double
    let getP50: Double
    let getMaximum: Double
    let memory: Double
    let exit: Double
    /// From an insertion before all windows until the last of them was told.
    let toldAll: Double?
  }

  private static let queries = """
    players: {table: player, fields: [id, name, score], order: [id]}
    cheap:
      sql: SELECT id, score FROM player WHERE id = :n
      parameters: {n: {type: integer}}
    endless:
      sql: "WITH RECURSIVE n(i) AS (SELECT :from UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS count FROM n, player"
      key: [count]
      parameters: {from: {type: integer, default: 1}}
    slow:
      sql: "SELECT id, score, (WITH RECURSIVE n(i) AS (SELECT score UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT count(*) FROM n) AS count FROM player WHERE id <= 100 ORDER BY id"
    large:
      sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n) SELECT i, printf('%0600d', i) AS text FROM n"
      key: [i]
      parameters: {n: {type: integer}}
    """

  private static let settings = """
    limits: {controllers: 100000, queriesPerAddress: 100000, connections: 100000, connectionsPerAddress: 100000}
    timeouts: {statement: 10m}
    """

  private let attack: Attack
  private let database: SampleDatabase
  private let server: ServerProcess
  private let stream: EventSocket
  private let drain = Drain()
  private let large: LargeTableUse?
  private var windows: Int
  private var nextValue = 1_000_000

  var title: String { attack == .windows ? "\(windows) \(attack.title)" : attack.title }

  init(_ executable: String, _ attack: Attack, windows: Int) throws {
    self.attack = attack
    self.windows =
      attack == .windowStreams ? Attack.streamsOfWindows * Attack.windowsOfStream : windows
    database = try SampleDatabase(rows: Self.showsWindows(attack) ? self.windows + 100 : 1000)
    large =
      switch attack {
      case .largeTable: try LargeTableUse(database, LargeTableUse.Step.all)
      case .schemaChanges: try LargeTableUse(database, [.first, .schema])
      default: nil
      }
    let queries = Self.queries + (large == nil ? "" : "\n" + LargeTableUse.queries)
    server = try ServerProcess(
      executable, database: database.path, queries: queries, settings: Self.settings)
    stream = try EventSocket(
      port: server.port, path: "/v1/queries/players/events?snapshot=false")
    try begin()
  }

  private static func showsWindows(_ attack: Attack) -> Bool {
    attack == .windows || attack == .windowStreams
  }

  private func begin() throws {
    // The first change makes the server's index of rows. One that has run for a second knows what others leave of the
    // processors.
    for _ in 0..<2 {
      _ = try commit(id: 1)
      Thread.sleep(forTimeInterval: 1)
    }
    let paths = attack.paths(windows: windows)
    for (number, path) in paths.enumerated() {
      // From several addresses, as an attack may come.
      guard
        let descriptor = try? EventSocket.ask(
          path, port: server.port, from: UInt8(1 + number / 10_000))
      else {
        windows = number
        break
      }
      drain.add(descriptor)
    }
    if attack == .slowLive || attack == .manyQueries || Self.showsWindows(attack) {
      drain.wait(for: "retry:", count: min(paths.count, windows), atMost: .seconds(120))
    }
    try large?.begin(path: database.path, port: server.port)
  }

  func measure(commits: Int, rate: Double) throws -> Figures {
    var events: [Double] = []
    var answers: [Double] = []
    let start = ContinuousClock.now
    for number in 0..<commits {
      let due = start + .seconds(Double(number) / rate)
      Thread.sleep(forTimeInterval: max(0, (due - .now) / .seconds(1)))
      events.append(try commit(id: number * 7 % 1000 + 1))
      if number % 10 == 5 { answers.append(try get(number)) }
    }
    large?.end()
    events.sort()
    let told = Self.showsWindows(attack) ? try tellAll() : nil
    return Figures(
      p50: events[events.count / 2], p99: events[events.count * 99 / 100],
      slowest: events.last ?? 0, getP50: answers.median ?? 0, getMaximum: answers.max() ?? 0,
      memory: server.residentMemory, exit: server.terminate(), toldAll: told)
  }

  private func commit(id: Int) throws -> Double {
    nextValue += 1
    try database.write("UPDATE player SET score = \(nextValue) WHERE id = \(id)")
    let start = ContinuousClock.now
    try stream.wait(for: "\"score\":\(nextValue)}")
    return (ContinuousClock.now - start).milliseconds
  }

  /// A short query that nobody has asked for.
  private func get(_ number: Int) throws -> Double {
    let start = ContinuousClock.now
    _ = try EventSocket.get("/v1/queries/cheap/records?n=\(number + 1)", port: server.port)
    return (ContinuousClock.now - start).milliseconds
  }

  /// Inserts a record before all windows, which shifts each of them.
  private func tellAll() throws -> Double {
    drain.forget()
    try database.write("INSERT INTO player (id, name) VALUES (-1, 'first')")
    let start = ContinuousClock.now
    drain.wait(for: "event: didChange", count: windows, atMost: .seconds(60))
    return (ContinuousClock.now - start).milliseconds
  }
}
