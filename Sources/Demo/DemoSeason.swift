import GRDB
import SeededRandom

/// What happens in the demo's league, one transaction at a time.
///
/// Bounded for ever: the number of players stays within `players`, old goals go, and scores fall
/// back when the season is won. A visitor may change anything meanwhile, so that each step asks the
/// database for the state of things and does nothing where it finds nobody.
struct DemoSeason: Sendable {
  /// Enough for sections that scroll, few enough to find a name again.
  static let players = 24...48
  static let goals = 20
  /// The score that ends a season.
  static let goal = 99

  private var generator: SeededGenerator

  init(generator: SeededGenerator) {
    self.generator = generator
  }

  mutating func pick(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  /// Makes the tables and the first players.
  mutating func begin(_ database: Database) throws {
    try database.execute(sql: Self.schema)
    for team in DemoNames.teams {
      try database.execute(
        sql: "INSERT INTO team (name, city) VALUES (?, ?)", arguments: [team.name, team.city])
    }
    for _ in 1...(Self.players.lowerBound + Self.players.upperBound) / 2 {
      try arrive(database, score: pick(0...60))
    }
  }

  private static let schema = """
    CREATE TABLE team (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      city TEXT NOT NULL
    );
    -- AUTOINCREMENT: a newcomer is nobody who was there before.
    CREATE TABLE player (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      country TEXT NOT NULL,
      team TEXT NOT NULL REFERENCES team (name) ON UPDATE CASCADE,
      score INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX playerByTeam ON player (team, score);
    CREATE TABLE goal (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      playerId INTEGER NOT NULL REFERENCES player (id) ON DELETE CASCADE,
      points INTEGER NOT NULL
    );
    CREATE INDEX goalByPlayer ON goal (playerId);
    """

  /// One transaction's worth of what happens in a league.
  mutating func step(_ database: Database) throws {
    let best = try Int.fetchOne(database, sql: "SELECT max(score) FROM player") ?? 0
    if best >= Self.goal { return try endSeason(database) }
    switch pick(1...100) {
    case ...58: try score(database)
    case ...70: try transfer(database)
    case ...77: try swap(database)
    case ...86: try comeOrGo(database, isArrival: true)
    case ...95: try comeOrGo(database, isArrival: false)
    case ...98: try playMatch(database)
    default: try rename(database)
    }
  }

  private mutating func score(_ database: Database) throws {
    guard let player = try randomPlayer(database) else { return }
    try score(database, player: player, points: pick(1...3))
  }

  private func score(_ database: Database, player: Int64, points: Int) throws {
    try database.execute(
      sql: "UPDATE player SET score = score + ? WHERE id = ?", arguments: [points, player])
    try database.execute(
      sql: "INSERT INTO goal (playerId, points) VALUES (?, ?)", arguments: [player, points])
    try database.execute(
      sql: "DELETE FROM goal WHERE id NOT IN (SELECT id FROM goal ORDER BY id DESC LIMIT ?)",
      arguments: [Self.goals])
  }

  private mutating func transfer(_ database: Database) throws {
    guard let player = try randomPlayer(database), let team = try randomTeam(database) else {
      return
    }
    try database.execute(
      sql: "UPDATE player SET team = ? WHERE id = ?", arguments: [team, player])
  }

  /// Two players change places in one transaction: a reader sees both moves or none.
  private mutating func swap(_ database: Database) throws {
    guard let first = try randomPlayer(database), let second = try randomPlayer(database) else {
      return
    }
    try database.execute(
      sql: """
        UPDATE player SET team = (
          SELECT team FROM player AS other WHERE other.id = iif(player.id = :a, :b, :a)
        ) WHERE id IN (:a, :b)
        """, arguments: ["a": first, "b": second])
  }

  private mutating func comeOrGo(_ database: Database, isArrival: Bool) throws {
    let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM player") ?? 0
    if count < Self.players.upperBound, isArrival || count <= Self.players.lowerBound {
      try arrive(database, score: 0)
    } else if let player = try randomPlayer(database) {
      try database.execute(sql: "DELETE FROM player WHERE id = ?", arguments: [player])
    }
  }

  private mutating func arrive(_ database: Database, score: Int) throws {
    guard let team = try randomTeam(database),
      let country = DemoNames.countries.randomElement(using: &generator)
    else { return }
    let name = DemoNames.name(of: country, using: &generator)
    try database.execute(
      sql: "INSERT INTO player (name, country, team, score) VALUES (?, ?, ?, ?)",
      arguments: [name, country, team, score])
  }

  /// A burst: all players of two teams at once.
  private mutating func playMatch(_ database: Database) throws {
    guard let home = try randomTeam(database), let guest = try randomTeam(database) else { return }
    let players = try Int64.fetchAll(
      database, sql: "SELECT id FROM player WHERE team IN (?, ?) ORDER BY id",
      arguments: [home, guest])
    for player in players {
      let points = pick(0...2)
      if points > 0 { try score(database, player: player, points: points) }
    }
  }

  /// A section gets another name: to and fro, so that the list of teams stays what it is.
  private mutating func rename(_ database: Database) throws {
    let index = pick(0...DemoNames.teams.count - 1)
    let team = DemoNames.teams[index]
    try database.execute(
      sql: "UPDATE team SET name = iif(name = :name, :other, :name) WHERE name IN (:name, :other)",
      arguments: ["name": team.name, "other": team.otherName])
  }

  /// The winners are known: everyone keeps a third of the points, and it goes on.
  private func endSeason(_ database: Database) throws {
    try database.execute(sql: "UPDATE player SET score = score / 3; DELETE FROM goal")
  }

  private mutating func randomPlayer(_ database: Database) throws -> Int64? {
    try Int64.fetchAll(database, sql: "SELECT id FROM player ORDER BY id")
      .randomElement(using: &generator)
  }

  private mutating func randomTeam(_ database: Database) throws -> String? {
    try String.fetchAll(database, sql: "SELECT name FROM team ORDER BY id")
      .randomElement(using: &generator)
  }
}
