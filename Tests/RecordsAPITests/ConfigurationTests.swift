import FetchedRecords
import OrderedResults
import QueryAnalysis
import Testing

@testable import RecordsAPI

/// The example of the documentation.
let musicConfiguration = """
  database: music.sqlite
  listen: 127.0.0.1:8080
  queries:
    players:
      title: Players by team
      table: player
      fields: [id, name, team, score]          # default: all columns
      where: country = :country
      order: [name COLLATE NOCASE, score DESC]
      section: team                             # any SQL expression over the row
      sectionIndexTitle: upper(substr(team, 1, 1))
      parameters:
        country: {type: text, default: FR}
      alongside:
        total: SELECT count(*) FROM player WHERE country = :country
    authors:
      sql: |
        SELECT author.id, author.name, count(book.id) AS bookCount
        FROM author LEFT JOIN book ON book.authorId = author.id
        GROUP BY author.id ORDER BY author.name
      key: [id]
  """

@Suite struct `A configuration` {
  @Test func `reads the example of the documentation`() throws {
    let configuration = try Configuration.parse(musicConfiguration, file: "music.yaml")
    #expect(configuration.database == "music.sqlite")
    #expect(configuration.listen == .standard)
    try #require(configuration.queries.count == 2)
    let players = QueryDefinition(
      name: "players", title: "Players by team",
      form: .declared(
        .init(
          table: "player", fields: ["id", "name", "team", "score"], predicate: "country = :country",
          order: ["name COLLATE NOCASE", "score DESC"])),
      section: "team", sectionIndexTitle: "upper(substr(team, 1, 1))",
      parameters: [QueryParameter(name: "country", type: .text, defaultValue: .text("FR"))],
      alongside: [
        .init(name: "total", sql: "SELECT count(*) FROM player WHERE country = :country")
      ])
    #expect(configuration.queries[0] == players.withInferredTypes)
    let authors = QueryDefinition(
      name: "authors",
      form: .sql(
        """
        SELECT author.id, author.name, count(book.id) AS bookCount
        FROM author LEFT JOIN book ON book.authorId = author.id
        GROUP BY author.id ORDER BY author.name

        """), key: ["id"])
    #expect(configuration.queries[1] == authors.withInferredTypes)
  }

  @Test func `reads JSON`() throws {
    let json = """
      {
      \t"listen": "[::1]:0",
      \t"queries": {
      \t\t"a": {"table": "t", "groupBy": ["x"], "having": "count(*) > 1", "key": ["x"]}
      \t}
      }
      """
    let configuration = try Configuration.parse(json, file: "c.json")
    #expect(configuration.listen?.host == "::1")
    #expect(configuration.listen?.description == "[::1]:0")
    #expect(
      configuration.queries == [
        QueryDefinition(
          name: "a",
          form: .declared(.init(table: "t", groupBy: ["x"], having: "count(*) > 1")), key: ["x"]
        )
        .withInferredTypes
      ])
  }

  @Test func `may declare no query`() throws {
    #expect(try Configuration.parse("database: a.db", file: "c.yaml").queries.isEmpty)
  }

  @Test(arguments: [
    ("c.yaml", "a.db", "a.db"), ("etc/c.yaml", "a.db", "etc/a.db"),
    ("/etc/c.yaml", "../a.db", "/etc/../a.db"), ("etc/c.yaml", "/srv/a.db", "/srv/a.db"),
  ])
  func `counts a relative path from its own folder`(
    file: String, database: String, resolved: String
  ) throws {
    let configuration = try Configuration.parse("database: \(database)", file: file)
    #expect(configuration.database == resolved)
  }

  @Test(arguments: [
    ("{type: text, default: NO}", Value.text("NO")),
    ("{type: text, default: 2024-01-31}", .text("2024-01-31")),
    ("{type: text, default: \"12\"}", .text("12")),
    ("{type: text, default: \"\"}", .text("")),
    ("{type: text, default: null}", .null),
    ("{type: integer, default: -9223372036854775808}", .integer(.min)),
    ("{type: integer, default: 0x10}", .integer(16)),
    ("{type: real, default: 2}", .real(2)),
    ("{type: real, default: -1.5e3}", .real(-1500)),
    ("{type: blob, default: AP8=}", .blob([0, 255])),
    ("{type: real}", nil),
  ])
  func `reads the default of a parameter by its type`(yaml: String, value: Value?) throws {
    let configuration = try Configuration.parse(
      "queries: {a: {table: t, parameters: {p: \(yaml)}}}", file: "c.yaml")
    let parameter = try #require(configuration.queries.first?.parameters.first)
    #expect(parameter.defaultValue == value)
  }

  @Test func `takes anchors as what they stand for`() throws {
    let configuration = try Configuration.parse(
      """
      queries:
        a: {table: t, parameters: &p {x: {type: text}}}
        b: {table: u, parameters: *p}
      """, file: "c.yaml")
    #expect(configuration.queries[1].parameters == [QueryParameter(name: "x", type: .text)])
  }

  @Test func `takes a byte order mark and CRLF`() throws {
    let yaml = "queries:\r\n  a:\r\n    table: t\r\n    where: x = 1\r\n"
    let configuration = try Configuration.parse(yaml, file: "c.yaml")
    #expect(
      configuration.queries == [
        QueryDefinition(name: "a", form: .declared(.init(table: "t", predicate: "x = 1")))
          .withInferredTypes
      ])
    #expect(configuration.position(of: "a", .word(.where), near: "x").column == 12)
  }
}

extension QueryDefinition {
  /// As a file has it that says nothing of types.
  fileprivate var withInferredTypes: QueryDefinition {
    var definition = self
    definition.columnTypes = .inferred
    return definition
  }
}
