import FetchedRecords
import GRDB
import TestSupport
import Testing

@testable import RecordsAPI

/// What is reported when the queries of a configuration meet a database.
func refusals(_ yaml: String, schema: String) throws -> [String] {
  let folder = try TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  let path = folder.file()
  try DatabaseQueue(path: path).write { try $0.execute(sql: schema) }
  let configuration = try Configuration.parse(yaml, file: "c")
  do {
    _ = try Refresher(path: path, queries: .definitions(configuration.queries))
    return []
  } catch let refused as RefusedQueries {
    return configuration.problems(refused).problems.map(\.description)
  }
}

@Suite struct `What SQLite refuses` {
  let schema = "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT)"

  @Test func `is told with its place and the nearest right word`() throws {
    let yaml = """
      queries:
        a:
          table: playr
        b:
          table: player
          fields: [id, nmae]
          where: |
            id > 3
            AND tema = 'Blue'
          order: [name, id, tam]
        c:
          sql: |
            SELECT id
            FORM player
        d:
          table: player
          orders:
            name: [name]
            team: [team, nam]
            both: [tem, name COLLATE NOCAS]
      """
    let found = try refusals(yaml, schema: schema)
    for start in [
      "c:3:12: ", "c:6:18: ", "c:9:11: ", "c:10:23: ", "c:14:12: ", "c:19:20: ", "c:20:14: ",
      "c:20:19: ",
    ] {
      #expect(found.contains { $0.hasPrefix(start) }, "\(start) in \(found)")
    }
    for word in ["player", "name", "team"] {
      #expect(found.contains { $0.hasSuffix("did you mean \"\(word)\"?") }, "\(word) in \(found)")
    }
  }

  @Test func `is told in the words of the file`() throws {
    let yaml = """
      queries:
        a:
          sql: SELECT id FROM player WHERE team = :team AND name = ?
        b:
          table: player
          groupBy: [team, nmae]
          having: count(*) > least
          alongside: {total: SELECT sum(scroe) FROM player}
      """
    let unknown = "mend the SQL so that SQLite can prepare it"
    #expect(
      try refusals(yaml, schema: schema) == [
        "c:3:10: a parameter has no name; write :name instead of ? and declare the name under parameters",
        "c:3:38: the parameter :team is not declared; declare it under parameters, or mend its name",
        "c:6:21: no such column: nmae; did you mean \"name\"?",
        "c:7:24: no such column: least; \(unknown)",
        "c:8:35: no such column: scroe; \(unknown)",
      ])
  }

  @Test func `is told of a statement alongside, and of aggregates of what is one record`() throws {
    let yaml = """
      queries:
        a: {table: player, alongside: {n: "SELECT count(*) FROM player WHERE team = :t"}}
        b: {table: player, section: count(*)}
        c: {sql: SELECT * FROM player, section: max(team)}
        d: {table: player, fields: [team], groupBy: [team], section: count(*)}
      """
    let isOfOne = "write an expression over the columns of a record, or a subquery"
    #expect(
      try refusals(yaml, schema: schema) == [
        "c:2:80: the parameter :t is not declared; declare it under parameters, or mend its name",
        "c:3:31: it aggregates records, and is to be of one; \(isOfOne)",
        "c:4:43: it aggregates records, and is to be of one; \(isOfOne)",
      ])
  }

  @Test func `is nothing where everything prepares`() throws {
    #expect(try refusals("queries: {a: {table: player}}", schema: schema).isEmpty)
  }
}
