import Testing

@testable import QueryAnalysis

/// A condition `column = :parameter`, by which a row finds the results that it may be in.
@Suite struct EqualityRouteTests {
  @Test(arguments: [
    ("team = :team", "team"), (":team = Team", "team"), ("player.\"team\" == @team", "team"),
    ("score > 3 AND (name = 'a' OR name = 'b') AND [team]=$team", "team"),
    ("name IN (SELECT 1 AND 2) AND team = :team", "team"),
  ])
  func `the condition is found`(_ predicate: String, _ column: String) throws {
    let lead = Self.lead(predicate)
    #expect(lead?.parameter == "team")
    #expect(lead?.sql.contains("\"\(column)\"") == true)
  }

  @Test(arguments: [
    "team = :team OR score = 1", "team <> :team", "team >= :team", "NOT team = :team",
    "score BETWEEN 1 AND team = :team", "lower(team) = :team", "team = :team || 'x'",
    "team IS :team", "other.team = :team", "CASE WHEN 1 THEN 1 AND team = :team END",
    "team != :team", "team COLLATE NOCASE = :team", "nation = :team", "team = 'a'",
  ])
  func `what is no such condition is not taken for one`(_ predicate: String) {
    #expect(Self.lead(predicate) == nil)
  }

  private static func lead(_ predicate: String) -> ArgumentEquality? {
    ArgumentEquality(predicate: predicate, table: "player", rowID: "rowid") { expression in
      ["team", "Team", "player.\"team\"", "[team]"].contains(expression) ? "team" : nil
    }
  }
}
