import HTTPTypes
import Testing

@testable import HTTP1

private func target(
  _ text: String, method: String = "GET"
) throws(RequestError) -> (RequestTarget, problem: RequestError?) {
  let bytes = Array("\(method) \(text) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
  var parser = RequestHeadParser(limits: MessageLimits())
  var offset = 0
  guard let head = try parser.parse(bytes.span, from: &offset) else { throw .invalidTarget }
  return (head.target, head.problem)
}

@Test(arguments: [
  ("/", []), ("/a", ["a"]), ("/a/", ["a", ""]), ("/a//b", ["a", "", "b"]), ("//", ["", ""]),
  ("/a%20b", ["a b"]), ("/a%2Fb/c", ["a/b", "c"]), ("/%C3%A9", ["\u{e9}"]), ("/a+b", ["a+b"]),
  ("/a%00", ["a\u{0}"]), ("/?a=/b/c", []), ("/a|b", ["a|b"]),
  // RFC 3986 §5.2.4
  ("/a/./b", ["a", "b"]), ("/a/../b", ["b"]), ("/a/b/..", ["a", ""]), ("/a/%2e%2E/b", ["b"]),
  ("/.", []), ("/a/..", []), ("/...", ["..."]), ("/.a", [".a"]),
  ("http://a.example/b/c?d", ["b", "c"]), ("HTTP://a.example", []), ("http://a?b", []),
]) func `a path is split before it is decoded`(text: String, path: [String]) throws {
  let (target, problem) = try target(text)
  #expect(target.path == path)
  #expect(target.encodedPath.count == path.count)
  #expect(problem == nil)
}

@Test func `segments can be seen as they were sent`() throws {
  let target = try target("/a%2Cb,c/./d").0
  #expect(target.path == ["a,b,c", "d"])
  #expect(target.encodedPath == ["a%2Cb,c", "d"])
}

@Test(arguments: ["/%", "/%4", "/%4g", "/a?b=%x", "/%ff", "/?a=%C3", "/%C0%AF"])
func `a malformed percent-encoding is 400`(text: String) throws {
  #expect(try target(text).problem == .invalidPercentEncoding)
}

@Test(arguments: ["/..", "/a/../..", "/%2e%2e/a", "/./../a"])
func `a path above the root is 400`(text: String) throws {
  #expect(try target(text).problem == .pathLeavesRoot)
}

@Test func `query items keep their order and are decoded`() throws {
  let target = try target("/?a=1&b=x+y%2B&a=2&&c&d=&=e&f=g=h").0
  #expect(
    target.query == [
      QueryItem(name: "a", value: "1"), QueryItem(name: "b", value: "x y+"),
      QueryItem(name: "a", value: "2"), QueryItem(name: "c", value: nil),
      QueryItem(name: "d", value: ""), QueryItem(name: "", value: "e"),
      QueryItem(name: "f", value: "g=h"),
    ])
}

@Test func `an absolute target names its authority`() throws {
  #expect(try target("http://b.example:81/c").0.authority == "b.example:81")
}

@Test func `OPTIONS may ask about the server`() throws {
  #expect(try target("*", method: "OPTIONS").0.isAsterisk)
}

@Test func `what is encoded is decoded to the same`() {
  let text = "a b/\u{e9}%+,~-._"
  let encoded = PercentEncoding.encoded(text)
  #expect(encoded == "a%20b%2F%C3%A9%25%2B%2C~-._")
  #expect(PercentEncoding.decoded(encoded[...]) == text)
}
