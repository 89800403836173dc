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
    #expect(
      result.output.contains(/commits +to player cost a search/), "\(result.output)")
  }

  @Test func `prints the types of columns, and refuses those of none`() throws {
    try database.execute("CREATE TABLE task (id INTEGER PRIMARY KEY, done BOOLEAN, photo BLOB)")
    let file = try folder.write(
      """
      database: music.sqlite
      queries:
        tasks: {table: task, columns: {photo: {blob: image/png}}}
      """, to: "types.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.output.contains(/types +done boolean, photo image\/png\n/), "\(result.output)")
    let wrong = try folder.write(
      """
      database: music.sqlite
      queries:
        tasks:
          table: task
          columns: {doen: boolean}
      """, to: "wrong.yaml")
    let refused = try Command.run(["check", "--config", wrong])
    #expect(refused.exitCode == 1)
    #expect(
      refused.errors.hasSuffix(
        "wrong.yaml:5:15: doen is not a column of the result; did you mean \"done\"?"),
      "\(refused.errors)")
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

  @Test func `runs each query that needs no value, and says what came of it`() throws {
    let file = try folder.write(
      """
      database: music.sqlite
      queries:
        players:
          table: player
          section: team
        one:
          sql: SELECT * FROM player WHERE id = :id
          parameters: {id: {type: integer, default: 1}}
        any:
          sql: SELECT * FROM player WHERE id = :id
          parameters: {id: {type: integer}}
      """, to: "didchange.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.contains(/players(?s:.*)result +6 records in 3 sections/))
    #expect(result.output.contains(/one(?s:.*)result +1 record\n/))
    #expect(result.output.contains(/any(?s:.*)result +not run: a parameter must be given/))
  }

  @Test func `reports queries that prepare and then fail`() throws {
    let file = try folder.write(
      """
      database: music.sqlite
      queries:
        fine:
          table: player
        runs:
          sql: SELECT * FROM player ORDER BY id % 2
          section: team
        overflow:
          table: player
          fields: [id, abs(:a) AS a]
          parameters:
            a: {type: integer, default: -9223372036854775808}
        alongside:
          sql: SELECT id FROM player
          alongside: {broken: "SELECT json('{')"}
      """, to: "didchange.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.exitCode == 1)
    #expect(result.output.isEmpty)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 3, "\(result.errors)")
    #expect(result.errors.contains(/didchange.yaml:7:14: .*returns to the section.*ORDER BY team/))
    #expect(result.errors.contains(/didchange.yaml:9:12: .*default of a: integer overflow/))
    #expect(result.errors.contains(/didchange.yaml:14:10: .*malformed JSON/))
  }

  @Test func `says which views cannot be read`() throws {
    try database.execute("CREATE VIEW high AS SELECT abs(-9223372036854775808) AS a FROM player")
    let result = try Command.run(["check", database.path])
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.contains(/high(?s:.*)problem +integer overflow/), "\(result.output)")
  }

  @Test func `commands no terminal`() throws {
    try database.execute("CREATE TABLE \"a\u{1B}[31mb\u{9B}2J\u{7F}\" (\"c\u{1B}[0m\nd\")")
    let file = try folder.write(
      """
      database: music.sqlite
      queries:
        q: {sql: "SELECT \\"\\e[2Jnmae\\" AS x, \\e FROM player"}
        "\\e[31m\\nmusic.yaml:1:1: red": {table: player}
      """, to: "didchange.yaml")
    for arguments in [
      ["check", database.path], ["check", "--config", file], ["check", "\u{1B}[31m.sqlite"],
      ["serve", "--nothing\u{1B}[31m"], ["serve", "--public", "/\u{1B}[31m", database.path],
    ] {
      let result = try Command.run(arguments)
      let text = result.output + result.errors
      #expect(
        text.unicodeScalars.contains { "\u{241B}\u{FFFD}".unicodeScalars.contains($0) }, "\(text)")
      let controls = text.unicodeScalars.filter { $0.properties.generalCategory == .control }
      #expect(controls.allSatisfy { $0 == "\n" }, "\(arguments)")
      #expect(!text.contains("\nmusic.yaml:1:1"), "a name began a line of its own")
    }
  }

  @Test func `shows the first hundred of many problems`() throws {
    let queries = (0..<5000).map { "  q\($0): {sql: SELECT nmae FROM player}\n" }.joined()
    let file = try folder.write("database: music.sqlite\nqueries:\n" + queries, to: "many.yaml")
    let result = try Command.run(["check", "--config", file])
    #expect(result.exitCode == 1)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 101)
    #expect(
      lines.first?.hasSuffix(
        #"many.yaml:3:20: no such column: nmae; did you mean "name"?"#) == true, "\(lines[0])")
    #expect(lines.last == "… and 4900 more problems")
  }
}
