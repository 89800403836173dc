import Callers
import Testing

@Test(arguments: [
  ("a", ClaimValue.integer(1)), ("org.id", .integer(7)), ("x.y", .string("exact")),
  ("https://a.example/c.role", .string("admin")), ("deep.er.still", .boolean(true)),
  ("list", .array([.string("a"), .string("b")])), ("org.sub.id", .integer(9)),
]) func `a dotted path leads into objects, and an exact name comes first`(
  path: String, value: ClaimValue
) throws {
  let claims = try Claims(
    json: #"""
      {"a": 1, "org": {"id": 7, "sub.id": 9}, "x.y": "exact", "x": {"y": "inner"},
       "https://a.example/c": {"role": "admin"}, "deep": {"er": {"still": true}},
       "list": ["a", "b"]}
      """#)
  #expect(claims.value(at: path) == value)
}

@Test(arguments: ["none", "a.b", "org", "org.", ".org", "", ".", "org.id.x", "null", "in.null"])
func `a path to nothing is none, and to null too`(path: String) throws {
  let claims = try Claims(json: #"{"a": 1, "null": null, "in": {"null": null}}"#)
  #expect(claims.value(at: path) == nil)
}

@Test func `a null of the exact name takes away what a path would find`() throws {
  let claims = try Claims(json: #"{"org": {"id": 7}}"#)
  #expect(claims.joining([("org.id", .null)]).value(at: "org.id") == nil)
}

@Test func `a column wins over a claim, and a NULL column takes it away`() throws {
  let claims = try Claims(json: #"{"role": "admin", "user": 7, "keep": 1}"#)
    .joining([("role", .null), ("user", .integer(8)), ("new", .double(0.5))])
  #expect(claims.value(at: "role") == nil)
  #expect(claims.value(at: "user") == .integer(8))
  #expect(claims.jsonText == #"{"role":null,"user":8,"keep":1,"new":0.5}"#)
}

@Test func `names and texts are the same only by their bytes`() throws {
  let claims = try Claims(json: #"{"caf\u00e9": 1, "cafe\u0301": 2}"#)
  #expect(claims.value(at: "caf\u{e9}") == .integer(1))
  #expect(claims.value(at: "cafe\u{301}") == .integer(2))
  #expect(ClaimValue.string("\u{e9}") != .string("e\u{301}"))
  #expect(!ClaimValue.string("\u{e9}").matches(.string("e\u{301}")))
}

@Test func `text with U+0000 counts as none, wherever it is in a claim`() {
  let claims = Claims([
    ("text", .string("admin\0x")), ("list", .array([.string("a"), .string("\0")])),
    ("object", .object(Claims([("a\0", .null)]))), ("good", .string("a")),
  ])
  #expect(claims.value(at: "text") == nil)
  #expect(claims.value(at: "list") == nil)
  #expect(claims.value(at: "object") == nil)
  #expect(claims.value(at: "good") == .string("a"))
}

@Test(arguments: [
  ("7", ClaimValue.integer(7)), ("7.0", .double(7)), ("-0", .integer(0)),
  ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
  ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1e3", .double(1000)),
  ("1E-2", .double(0.01)), ("true", .boolean(true)), ("null", .null), ("[]", .array([])),
  (#""\u0041\n\ud83d\ude00é""#, .string("A\n😀é")),
  (" [ 1 , 2 ] ", .array([.integer(1), .integer(2)])),
]) func `a value of JSON is read exactly`(text: String, value: ClaimValue) throws {
  let claims = try Claims(json: #"{"v":\#(text)}"#)
  #expect(claims.members.map(\.name) == ["v"])
  #expect(claims.members.first?.value == value)
  let again = try Claims(json: claims.jsonText)
  #expect(again == claims, "\(claims.jsonText)")
}

@Test(arguments: [
  "", "{", "{}x", "[]", "7", "null", "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{'a':1}",
  "{\"a\":01}", "{\"a\":+1}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":-}", "{\"a\":NaN}",
  "{\"a\":1e400}", "{\"a\":-1e400}", "{\"a\":Infinity}", "{\"a\":0x1}", "{\"a\":tru}",
  "{\"a\":[1,]}", "{\"a\":[1 2]}", "{\"a\":\"}", "{\"a\":\"\t\"}", "{\"a\":\"\\x\"}",
  "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\udc00\"}",
  "{\"a\":\"\\u0000\"}", "{\"a\":\"\0\"}", "{\"a\":1}\0", "\u{feff}{}", "{\"a\":1,\"a\":2}",
  "{\"a\":1,\"\\u0061\":2}", "{\"o\":{\"a\":1,\"a\":1}}", "{\"a\":1}{\"a\":1}", "{\"a\":1//\n}",
  "{\"a\":\"\\uff11111\"", "{\u{a0}}",
]) func `what two readers could understand in two ways is not read`(text: String) {
  #expect(throws: JSONProblem.self) { try Claims(json: text) }
}

@Test(arguments: ["[", "{\"a\":", "[{\"a\":"]) func `ten thousand levels are refused`(open: String)
{
  let text = "{\"a\":" + String(repeating: open, count: 10_000)
  #expect(throws: JSONProblem.self) { try Claims(json: text) }
}

@Test func `32 levels are read, and 33 are not`() throws {
  func nested(_ depth: Int) -> String {
    String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
  }
  let path = Array(repeating: "a", count: 32).joined(separator: ".")
  #expect(try Claims(json: nested(32)).value(at: path) == .integer(1))
  #expect(throws: JSONProblem.self) { try Claims(json: nested(33)) }
}

@Test func `the JSON text of a claim is compact`() throws {
  let claims = try Claims(json: #"{"groups": [ "a", "b\"\n" ], "n": {"x": 7.0, "y": [1, null]}}"#)
  #expect(claims.value(at: "groups")?.jsonText == #"["a","b\"\n"]"#)
  #expect(claims.value(at: "n")?.jsonText == #"{"x":7.0,"y":[1,null]}"#)
}

@Test func `a name that is given twice has the last value`() {
  let claims = Claims([("a", .integer(1)), ("b", .null), ("a", .integer(2))])
  #expect(claims.members.map(\.name) == ["a", "b"])
  #expect(claims.value(at: "a") == .integer(2))
}
