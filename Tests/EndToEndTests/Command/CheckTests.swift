import TestSupport
import Testing

@Suite(.endToEnd) struct `didchange check` {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
  }

  @Test func `prints each query`() throws {
    let file = try folder.write(
      "database: music.sqlite\nqueries:\n\(Teams.query.indented)", to: "didchange.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.errors.isEmpty)
    for words in ["players", "id, name, team, score", "SELECT", "FROM \"player\"", "ORDER BY"] {
      #expect(result.output.contains(words), "\(words) in \(result.output)")
    }
    #expect(result.output.contains(/tracking.*(refetch|incremental)/), "\(result.output)")
    #expect(result.output.contains(/key.*id/), "\(result.output)")
  }

  @Test func `prints the tables of a database`() throws {
    let result = try Command.run(["check", database.path])
    #expect(result.exitCode == 0)
    #expect(result.output.contains("player"))
  }

  @Test func `says which tables of a database cannot be queries`() throws {
    try database.execute("CREATE TABLE gone (a); CREATE VIEW ghost AS SELECT * FROM gone")
    try database.execute("DROP TABLE gone")
    let result = try Command.run(["check", database.path])
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.contains("\"player\""))
    #expect(result.output.contains(/ghost\n  problem +.*gone/), "\(result.output)")
  }

  @Test func `lists all problems with their places`() throws {
    let file = try folder.write(
      """
      database: music.sqlite
      listen: nowhere
      queries:
        players:
          table: player
          ordr: [name]
          parameters:
            limit: {type: integer}
            a: {type: strng}
      """, to: "didchange.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.exitCode == 1)
    #expect(result.output.isEmpty)
    let places = result.errors.split(separator: "\n").compactMap {
      $0.firstMatch(of: #/didchange\.yaml:(\d+):\d+: /#).map { String($0.1) }
    }
    #expect(Set(places) == ["2", "6", "8", "9"], "\(result.errors)")
    #expect(result.errors.contains("order"))
    #expect(result.errors.contains("reserved"))
  }

  @Test func `lists what SQLite refuses with its place`() throws {
    let file = try folder.write(
      """
      database: music.sqlite
      queries:
        players:
          table: player
          fields: [id, nmae]
          where: score >> :least AND
        twice:
          sql: SELECT id, id FROM player
      """, to: "didchange.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.exitCode == 1)
    for line in [5, 6, 8] {
      #expect(result.errors.contains("didchange.yaml:\(line):"), "\(line) in \(result.errors)")
    }
    #expect(result.errors.contains("name"))
  }
}
