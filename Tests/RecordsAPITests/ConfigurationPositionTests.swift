import Testing

@testable import RecordsAPI

@Suite struct `The places of a configuration` {
  let configuration: Configuration

  init() throws {
    configuration = try Configuration.parse(musicConfiguration, file: "music.yaml")
  }

  @Test(arguments: [
    (Configuration.Part.name, 4, 3), (.word(.title), 5, 12), (.word(.table), 6, 12),
    (.word(.where), 8, 12), (.word(.order), 9, 12), (.item(.order, 1), 9, 34),
    (.word(.section), 10, 14), (.entry(.parameters, "country"), 13, 7),
    (.parameterDefault("country"), 13, 38), (.entry(.alongside, "total"), 15, 14),
  ])
  func `are known for each part of a query`(
    part: Configuration.Part, line: Int, column: Int
  ) {
    let position = configuration.position(of: "players", part)
    #expect(position == TextPosition(line: line, column: column))
  }

  @Test(arguments: [
    (Configuration.Part.word(.having), 4, 3), (.item(.order, 7), 9, 12),
    (.entry(.parameters, "nobody"), 13, 7), (.item(.groupBy, 0), 4, 3),
  ])
  func `are those of what is around a part that is not there`(
    part: Configuration.Part, line: Int, column: Int
  ) {
    let position = configuration.position(of: "players", part)
    #expect(position == TextPosition(line: line, column: column))
  }

  @Test(arguments: [
    ("players", Configuration.Part.word(.where), ":country", 8, 22),
    ("players", .word(.where), "name", 8, 12),
    ("players", .item(.order, 1), "DESC", 9, 40),
    ("players", .item(.order, 0), "score", 9, 13),
    ("players", .entry(.alongside, "total"), "country", 15, 48),
    ("authors", .word(.sql), "bookCount", 18, 56),
    ("authors", .word(.sql), "book", 18, 44),
    ("authors", .word(.sql), "ORDER", 20, 26),
    ("authors", .word(.sql), "key", 17, 10), ("players", .word(.where), "order", 8, 12),
  ])
  func `go down to the word that a message is about`(
    query: String, part: Configuration.Part, word: String, line: Int, column: Int
  ) {
    let position = configuration.position(of: query, part, near: word)
    #expect(position == TextPosition(line: line, column: column))
  }

  @Test func `are known for the words of the file`() {
    #expect(configuration.position(of: .database) == TextPosition(line: 1, column: 11))
    #expect(configuration.position(of: .listen) == TextPosition(line: 2, column: 9))
  }

  @Test func `make a problem that editors can follow`() {
    let problem = configuration.problem(
      in: "players", .word(.section), near: "team", "there is no column \"team\"",
      mend: "did you mean \"tema\"?")
    #expect(
      problem.description
        == "music.yaml:10:14: there is no column \"team\"; did you mean \"tema\"?")
  }
}
