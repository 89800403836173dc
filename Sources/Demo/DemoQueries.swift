import OrderedResults
package import QueryAnalysis

extension DemoDatabase {
  /// One query for each thing that a query can do.
  package static let queries = [players, standings, scorers, names, goals]

  private static let players = QueryDefinition(
    name: "players", title: "Players by team",
    form: .declared(
      .init(
        table: "player", fields: ["id", "name", "country", "score"],
        order: ["score DESC", "name COLLATE NOCASE"])),
    section: "team",
    alongside: [
      .init(name: "players", sql: "SELECT count(*) FROM player"),
      .init(name: "points", sql: "SELECT sum(score) FROM player"),
      .init(name: "leader", sql: "SELECT name FROM player ORDER BY score DESC, name LIMIT 1"),
    ])

  private static let standings = QueryDefinition(
    name: "standings", title: "Standings",
    form: .sql(
      """
      SELECT team.id, team.name, team.city, count(player.id) AS players,
        coalesce(sum(player.score), 0) AS points
      FROM team LEFT JOIN player ON player.team = team.name
      GROUP BY team.id
      ORDER BY points DESC, team.name
      """),
    key: ["id"])

  private static let scorers = {
    var query = QueryDefinition(
      name: "scorers", title: "Best scorers, of one country or of all",
      form: .declared(
        .init(
          table: "player", fields: ["id", "name", "team", "country", "score"],
          predicate: "score >= :minimum AND (:country IS NULL OR country = :country)")),
      parameters: [
        QueryParameter(name: "country", type: .text, defaultValue: .null),
        QueryParameter(name: "minimum", type: .integer, defaultValue: .integer(30)),
      ])
    query.orders = [
      .init(name: "best", terms: ["score DESC", "name COLLATE NOCASE"]),
      .init(name: "name", terms: ["name COLLATE NOCASE"]),
      .init(name: "team", terms: ["team", "score DESC"]),
      .init(name: "country", terms: ["country", "score DESC"]),
    ]
    return query
  }()

  private static let names = QueryDefinition(
    name: "names", title: "Players from A to Z",
    form: .declared(
      .init(
        table: "player", fields: ["id", "name", "team", "country"],
        order: ["name COLLATE NOCASE"])),
    section: "upper(substr(name, 1, 1))")

  private static let goals = QueryDefinition(
    name: "goals", title: "Latest goals",
    form: .sql(
      """
      SELECT goal.id, player.name, player.team, goal.points
      FROM goal JOIN player ON player.id = goal.playerId
      ORDER BY goal.id DESC
      """),
    key: ["id"])
}
