import OrderedResults
import QueryAnalysis

@testable import FetchedRecords

/// Queries of every kind over the tables of `RandomSQL`.
enum ForeignWriterQueries {
  struct Case {
    let definition: QueryDefinition
    var arguments: QueryArguments = [:]
  }

  /// Beside the schema of `RandomSQL`.
  static let schema = [
    "CREATE VIEW scored AS SELECT id, name, score FROM player WHERE score IS NOT NULL"
  ]

  static let cases: [Case] = declared + written + byTeam

  private static let declared: [Case] = [
    Case(
      definition: QueryDefinition(
        name: "players", form: .declared(.init(table: "player", order: ["name"])),
        section: "team")),
    Case(
      definition: QueryDefinition(
        name: "best",
        form: .declared(
          .init(
            table: "player", fields: ["id", "name", "score"], predicate: "score > 3",
            order: ["score DESC", "name COLLATE NOCASE"])))),
    Case(
      definition: QueryDefinition(
        name: "blobs",
        form: .declared(
          .init(table: "blob", fields: ["id", "length(body) AS size", "tag"], order: ["tag"])))),
    Case(
      definition: QueryDefinition(
        name: "bodies",
        form: .declared(.init(table: "blob", fields: ["id", "substr(body, -12) AS ending"])))),
    Case(
      definition: QueryDefinition(
        name: "log", form: .declared(.init(table: "log", order: ["id DESC"])))),
    Case(
      definition: QueryDefinition(
        name: "children", form: .declared(.init(table: "child", order: ["text"])),
        section: "parent")),
    Case(definition: QueryDefinition(name: "keyed", form: .declared(.init(table: "keyed")))),
    Case(
      definition: QueryDefinition(
        name: "tiny", form: .declared(.init(table: "tiny", order: ["b NULLS LAST", "a"])))),
    Case(
      definition: QueryDefinition(
        name: "plain", form: .declared(.init(table: "plain", order: ["c"])), section: "a")),
    Case(
      definition: QueryDefinition(
        name: "wide", form: .declared(.init(table: "wide", fields: ["k", "length(body) AS n"])))),
    Case(
      definition: QueryDefinition(
        name: "scored", form: .declared(.init(table: "scored", order: ["score"])))),
    Case(
      definition: QueryDefinition(
        name: "teams",
        form: .declared(
          .init(
            table: "player", fields: ["team", "count(*) AS n", "max(name) AS last"],
            groupBy: ["team"], order: ["n DESC"])))),
  ]

  private static let written: [Case] = [
    sql("names", "SELECT id, name FROM player AS p WHERE p.note IS NULL ORDER BY p.name, p.id"),
    sql("view", "SELECT * FROM scored ORDER BY score DESC, id"),
    sql(
      "families",
      """
      SELECT child.id, child.text, parent.name FROM child JOIN parent ON parent.id = child.parent
      ORDER BY parent.name, child.id
      """, key: ["id"]),
    sql(
      "orphans",
      """
      SELECT child.id, child.parent, parent.name FROM child
      LEFT JOIN parent ON parent.id = child.parent ORDER BY child.id
      """, key: ["id"]),
    sql(
      "sizes",
      """
      SELECT parent.id, parent.name, count(child.id) AS n FROM parent
      LEFT JOIN child ON child.parent = parent.id GROUP BY parent.id ORDER BY n DESC, parent.id
      """, key: ["id"]),
    sql("top", "SELECT id, name, score FROM player ORDER BY score DESC, id LIMIT 10"),
    sql("page", "SELECT id, name FROM player ORDER BY name, id LIMIT 7 OFFSET 5"),
    sql("all", "SELECT count(*) AS n, total(score) AS score FROM player"),
    sql(
      "both",
      """
      WITH named AS (SELECT id, name FROM player WHERE name > 'c')
      SELECT * FROM named ORDER BY name, id
      """),
  ]

  /// Controllers that are told apart by an argument.
  private static let byTeam: [Case] = [
    .null, .text("ann"), .integer(3), .text("3"), .integer(-2), .real(7.5), .blob([0x61]),
  ].map { team in
    Case(
      definition: QueryDefinition(
        name: "byTeam",
        form: .declared(.init(table: "player", predicate: "team = :team", order: ["score"])),
        parameters: [QueryParameter(name: "team", type: .text)]),
      arguments: ["team": team])
  }

  private static func sql(_ name: String, _ sql: String, key: [String]? = nil) -> Case {
    Case(definition: QueryDefinition(name: name, form: .sql(sql), key: key))
  }
}
