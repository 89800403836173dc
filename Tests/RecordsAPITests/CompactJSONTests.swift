import GRDB
import JSON
import SeededRandom
import Testing

@Suite struct `JSON in a column` {
  /// What a writer makes of text that may be JSON.
  private func written(_ text: [UInt8]) -> String {
    var json = JSONWriter()
    json.array { json in
      json.integer(1)
      text.withUnsafeBytes { json.json(utf8: $0) }
      json.integer(2)
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("{}", "{}"), (" [ ] ", "[]"), ("[[],{}]", "[[],{}]"), ("0", "0"), ("-0.5E+10", "-0.5E+10"),
    ("{\"a\" : [1 , \"b c\"]\n}", #"{"a":[1,"b c"]}"#), (#""\u00e9\/""#, #""\u00e9\/""#),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
    ("true", "true"), ("null", "null"),
  ])
  func `stands there without the space between its tokens`(text: String, json: String) {
    #expect(written(Array(text.utf8)) == "[1,\(json),2]")
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", ".5", "+1", "1e", "-",
    "tru", "truee", "[1]]", "1 2", "\"a", "\"\\x\"", "\"\\u12\"", "\"\u{1}\"", "NaN", "'a'",
    "{\"a\":1,}", "[1}", "// a\n1",
  ])
  func `that is none is text`(text: String) throws {
    var string = JSONWriter()
    string.string(text)
    let quoted = String(decoding: string.bytes, as: UTF8.self)
    #expect(written(Array(text.utf8)) == "[1,\(quoted),2]")
  }

  @Test func `that is no UTF-8 is text, repaired`() {
    #expect(written([0x22, 0xFF, 0x22]) == "[1,\"\\\"\u{FFFD}\\\"\",2]")
  }

  @Test func `is text where it is too deep`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(written(Array(nested(1000).utf8)) == "[1,\(nested(1000)),2]")
    #expect(written(Array(nested(1_000_000).utf8)).hasPrefix("[1,\"[["))
  }

  /// SQLite is the other opinion: https://www.sqlite.org/json1.html#jvalid
  @Test func `is what SQLite takes for JSON, however it is damaged`() throws {
    let text = Array(#"{"a":[1,-2.5e3,true,null,"x\n\u0041"],"b":{"c":"","d":[]}, "e" : 0}"#.utf8)
    let alphabet = Array("{}[]:,\"\\ 01.eE+-tfnu\nab".utf8)
    var random = SeededGenerator(seed: 17)
    var counts = (json: 0, text: 0)
    try DatabaseQueue().read { db in
      for step in 0..<20_000 {
        var mutant = text
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let place = Int.random(in: 0..<mutant.count, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: mutant.remove(at: place)
          case 1: mutant.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
          default: mutant[place] = alphabet.randomElement(using: &random) ?? 0
          }
        }
        let sql = "SELECT CASE WHEN json_valid(?) THEN json(?) END"
        let string = String(decoding: mutant, as: UTF8.self)
        let expected = try String.fetchOne(db, sql: sql, arguments: [string, string])
        let isJSON = expected != nil
        #expect(
          written(mutant) == (expected.map { "[1,\($0),2]" } ?? written(string: string)),
          "step \(step): \(string)")
        if isJSON { counts.json += 1 } else { counts.text += 1 }
      }
    }
    #expect(counts.json > 1000 && counts.text > 1000, "\(counts)")
  }

  private func written(string: String) -> String {
    var json = JSONWriter()
    json.array { json in
      json.integer(1)
      json.string(string)
      json.integer(2)
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
