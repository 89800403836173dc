import Testing

@testable import RecordsAPI

@Suite struct `The nearest word` {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("where", "wehre", 1), ("ab", "ba", 1),
    ("table", "table", 0), ("ca", "abc", 3),
  ])
  func `is measured in insertions, deletions, replacements and swaps`(
    first: String, second: String, distance: Int
  ) {
    #expect(NearestWord.distance(Array(first), Array(second)) == distance)
    #expect(NearestWord.distance(Array(second), Array(first)) == distance)
  }

  @Test func `is nil where nothing is near`() {
    #expect(NearestWord.find("color", among: ["database", "listen", "queries"]) == nil)
    #expect(NearestWord.find("a", among: ["b", "c"]) == nil)
    #expect(NearestWord.find("", among: ["a"]) == nil)
  }

  @Test func `is not looked for where nobody typed the word`() {
    let long = String(repeating: "a", count: 8000)
    #expect(NearestWord.find(long, among: [long + "a", "a"]) == nil)
    #expect(NearestWord.find("players", among: [long, "players" + long, "player"]) == "player")
  }

  @Test func `does not care about case`() {
    #expect(NearestWord.find("PLAYERS", among: ["teams", "players"]) == "players")
    #expect(NearestWord.find("Id", among: ["id"]) == "id")
  }

  @Test func `comes first among the near ones`() {
    let names = ["player", "layers", "players", "plovers", "prayers"]
    #expect(NearestWord.ranked("palyers", among: names, limit: 2) == ["players", "player"])
  }
}
