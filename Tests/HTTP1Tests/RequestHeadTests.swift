import HTTP1
import HTTPTypes
import Testing

@Test func `a request is read in any division of its bytes`() {
  let outcome = readThreeWays(
    request("GET /a/b?c=d HTTP/1.1", "Accept: */*", "X-Empty:", "X-Blank:  b c \t"))
  #expect(outcome.isComplete)
  #expect(outcome.method == "GET")
  #expect(outcome.target == "/a/b?c=d")
  #expect(outcome.path == ["a", "b"])
  #expect(outcome.fields == ["Host: a", "Accept: */*", "X-Empty: ", "X-Blank: b c"])
  #expect(outcome.framing == BodyFraming.none)
  #expect(outcome.keepsAlive == true)
  #expect(outcome.rest.isEmpty)
}

@Test func `one empty line before a request is skipped, two are not`() {
  #expect(readThreeWays("\r\n" + request()).isComplete)
  #expect(readThreeWays("\r\n\r\n" + request()).error == .invalidRequestLine)
}

@Test(arguments: [
  // RFC 9112 §3
  ("GET  / HTTP/1.1", RequestError.invalidRequestLine),
  ("GET /\tHTTP/1.1", .invalidTarget),
  (" GET / HTTP/1.1", .invalidMethod),
  ("GET / HTTP/1.1 ", .invalidVersion),
  ("G@T / HTTP/1.1", .invalidMethod),
  ("G\u{e9}T / HTTP/1.1", .invalidMethod),
  ("GET", .invalidRequestLine),
  ("GET ", .invalidRequestLine),
  // HTTP/0.9
  ("GET /", .invalidRequestLine),
  // RFC 9112 §2.3
  ("GET / http/1.1", .invalidVersion),
  ("GET / HTTP/1.10", .invalidVersion),
  ("GET / HTTP/11", .invalidVersion),
  ("GET / HTTP/0.9", .unsupportedVersion),
  ("GET / HTTP/2.0", .unsupportedVersion),
  ("PRI * HTTP/2.0", .unsupportedVersion),
  // RFC 9112 §3.2
  ("GET a HTTP/1.1", .invalidTarget),
  ("GET * HTTP/1.1", .invalidTarget),
  ("GET /#a HTTP/1.1", .invalidTarget),
  ("GET /a\u{e9} HTTP/1.1", .invalidTarget),
  ("GET ftp://a/ HTTP/1.1", .invalidTarget),
  ("GET http:// HTTP/1.1", .invalidTarget),
  ("GET http://u@a/ HTTP/1.1", .invalidTarget),
  ("GET a:80 HTTP/1.1", .invalidTarget),
  ("CONNECT a:80 HTTP/1.1", .connectRefused),
  ("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1", .methodTooLong),
]) func `a malformed request line is refused`(line: String, error: RequestError) {
  #expect(readThreeWays(request(line)).error == error)
}

@Test(arguments: [
  // RFC 9112 §5.1, §5.2, §2.2
  ("A : b", RequestError.whitespaceBeforeColon),
  (" A: b", .foldedField),
  ("\tA: b", .foldedField),
  ("A", .invalidFieldName),
  (": b", .invalidFieldName),
  ("A\u{e9}: b", .invalidFieldName),
  ("A(: b", .invalidFieldName),
  ("A: b\u{0}", .controlCharacter),
  ("A: b\u{7f}", .controlCharacter),
  ("A: b\nB: c", .bareLineFeed),
  ("A: b\rB: c", .bareCarriageReturn),
  ("A: b\r", .bareCarriageReturn),
]) func `a malformed field line is refused`(line: String, error: RequestError) {
  #expect(readThreeWays(request("GET / HTTP/1.1", line)).error == error)
}

@Test func `obs-text in a field value is kept`() {
  let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nA: ".utf8) + [0xE9] + Array("\r\n\r\n".utf8)
  #expect(read(pieces: [bytes]).isComplete)
}

@Test(arguments: [
  nil, "Host: a b", "Host: a,b", "Host: u@a", "Host: a:b", "Host: :80", "Host: [::1",
  // RFC 9110 §4.2.1
  "Host:", "Host: ",
  // RFC 3986 §3.2.2
  "Host: []", "Host: [zzz]", "Host: [1.2.3.4]", "Host: [:]", "Host: [:::]", "Host: [1]",
  "Host: [:1:2:3:4:5:6:7]", "Host: [1:2:3:4:5:6:7:]", "Host: [1::2::3]", "Host: [1:::2]",
  "Host: [1:2:3:4:5:6:7]", "Host: [1:2:3:4:5:6:7:8:9]", "Host: [1:2:3:4::5:6:7:8]",
  "Host: [12345::]", "Host: [g::]", "Host: [::1.2.3]", "Host: [::1.2.3.4.5]", "Host: [::1.2.3.256]",
  "Host: [::1.2.3.04]", "Host: [::1.2.3.]", "Host: [::1.2.3.4:5]", "Host: [1:2:3:4:5:6:7:1.2.3.4]",
  "Host: [fe80::1%25eth0]", "Host: [v.a]", "Host: [v1]", "Host: [v1.]", "Host: [vg.a]",
  "Host: [v1.a/b]", "Host: [::1]80", "Host: [::1]]", "Host: a]", "Host: [::1]:a",
])
func `HTTP 1_1 without a sound Host is refused`(host: String?) {
  let error = readThreeWays(request(host: host)).error
  #expect(error == (host == nil ? .missingHost : .invalidHost))
}

@Test(arguments: [
  "Host: a.example:8080", "Host: [::1]:80", "Host: 127.0.0.1", "host: a%20", "Host: a:",
  "Host: [::]", "Host: [1::]", "Host: [1:2:3:4:5:6:7:8]", "Host: [1::3:4:5:6:7:8]",
  "Host: [::2:3:4:5:6:7:8]", "Host: [1:2:3:4:5:6:7::]", "Host: [2001:DB8::aBcD]:443",
  "Host: [::ffff:1.2.3.4]", "Host: [1:2:3:4:5:6:1.2.3.4]", "Host: [::0.10.100.255]",
  "Host: [v1F.a:b!c]",
])
func `a sound Host is accepted`(host: String) {
  #expect(readThreeWays(request(host: host)).isComplete)
}

@Test func `a repeated Host is refused`() {
  #expect(readThreeWays(request("GET / HTTP/1.1", "Host: a")).error == .repeatedHost)
}

@Test func `HTTP 1_0 needs no Host, and closes unless it is asked not to`() {
  let plain = readThreeWays(request("GET / HTTP/1.0", host: nil))
  #expect(plain.isComplete)
  #expect(plain.keepsAlive == false)
  let kept = readThreeWays(request("GET / HTTP/1.0", "Connection: foo, Keep-Alive", host: nil))
  #expect(kept.keepsAlive == true)
  #expect(readThreeWays(request("GET / HTTP/1.1", "Connection: CLOSE")).keepsAlive == false)
}

/// RFC 9112 §9.3, §9.6.
@Test(arguments: ["GET / HTTP/1.0", "GET / HTTP/1.1"])
func `a connection that shall be closed and kept is closed`(line: String) {
  for fields in [
    ["Connection: keep-alive, close"], ["Connection: close, keep-alive"],
    ["Connection: keep-alive", "Connection: close"], ["Connection: ,keep-alive,, Close ,"],
  ] {
    let head = ([line, "Host: a"] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
    #expect(readThreeWays(head).keepsAlive == false, "\(fields)")
  }
}

/// RFC 9110 §9.3.2: whoever refuses it must know that it has no body.
@Test(arguments: [
  ("HEAD / HTTP/1.1\r\n\r\n", RequestError.missingHost),
  ("HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n", .invalidHost),
  ("HEAD / HTTP/1.1\r\nHost : a\r\n\r\n", .whitespaceBeforeColon),
  ("HEAD / HTTP/1.1\r\nHost: a\n\r\n", .bareLineFeed),
  ("HEAD / HTTP/3.0\r\nHost: a\r\n\r\n", .unsupportedVersion),
  ("HEAD /\r\n\r\n", .invalidRequestLine),
  ("HEAD \r\n", .invalidRequestLine),
  ("HEAD /# HTTP/1.1\r\n", .invalidTarget),
  ("HEAD /\u{0}", .controlCharacter),
  ("\r\nHEAD /\n", .bareLineFeed),
  ("HEAD /" + String(repeating: "a", count: 9000), .targetTooLong),
]) func `a HEAD that is refused is known to be one`(text: String, error: RequestError) {
  let outcome = readThreeWays(text)
  #expect(outcome.error == error)
  #expect(outcome.isHead)
  let other = readThreeWays(text.replacing("HEAD", with: "HEAP"))
  #expect(other.error == error)
  #expect(!other.isHead)
}

@Test(arguments: ["head / HTTP/3.0\r\n", "HEA\n", "HEAD\n", "HEADER / HTTP/3.0\r\n", "\n"])
func `what only looks like HEAD is none`(text: String) {
  let outcome = readThreeWays(text)
  #expect(outcome.error != nil)
  #expect(!outcome.isHead)
}

/// RFC 9112 §3: 501 for the method, 414 for the target.
@Test(arguments: [8, 8000, 8300, 40_000])
func `a method that is too long is not taken for a target`(length: Int) {
  let method = String(repeating: "A", count: 32 + length)
  #expect(readThreeWays(request("\(method) / HTTP/1.1")).error == .methodTooLong)
  #expect(readThreeWays(method).error == (length < 8300 ? nil : .methodTooLong))
  let target = "/" + String(repeating: "a", count: 8192)
  #expect(readThreeWays(request("\(method) \(target) HTTP/1.1")).error == .methodTooLong)
  #expect(readThreeWays(request("GET \(target) HTTP/1.1")).error == .targetTooLong)
  #expect(RequestError.methodTooLong.status.code == 501)
}

@Test func `a later minor version is treated as 1_1`() {
  #expect(readThreeWays(request("GET / HTTP/1.7")).isComplete)
}

@Test func `limits are 414 and 431`() {
  var limits = MessageLimits()
  limits.targetLength = 100
  limits.headSize = 500
  limits.fieldCount = 3
  let long = String(repeating: "a", count: 100)
  #expect(readThreeWays(request("GET /\(long) HTTP/1.1"), limits: limits).error == .targetTooLong)
  #expect(
    readThreeWays(request("GET /\(long)\(long) HTTP/1.1"), limits: limits).error == .targetTooLong)
  let large = "A: " + long + long
  #expect(
    readThreeWays(request("GET / HTTP/1.1", large, large, large), limits: limits).error
      == .headTooLarge)
  #expect(
    readThreeWays(request("GET / HTTP/1.1", "A: 1", "A: 1", "A: 1"), limits: limits).error
      == .tooManyFields)
  #expect(RequestError.targetTooLong.status.code == 414)
  #expect(RequestError.tooManyFields.status.code == 431)
}

@Test func `an unknown expectation is 417 and does not lose framing`() {
  let outcome = readThreeWays(request("GET / HTTP/1.1", "Expect: a cake"))
  #expect(outcome.isComplete)
  #expect(outcome.problem == .unsupportedExpectation)
  #expect(RequestError.unsupportedExpectation.status.code == 417)
}

/// RFC 9110 §10.1.1: a list.
@Test func `an expectation is one of a list`() {
  for value in ["100-continue", "100-Continue, 100-continue", ", 100-continue"] {
    let outcome = readThreeWays(request("POST / HTTP/1.1", "Expect: \(value)"))
    #expect(outcome.expectsContinue == true, "\(value)")
    #expect(outcome.problem == nil, "\(value)")
  }
  for value in ["100-continue, a cake", "100-continue;a=b", "101-continue", "\"100-continue\""] {
    let outcome = readThreeWays(request("POST / HTTP/1.1", "Expect: \(value)"))
    #expect(outcome.problem == .unsupportedExpectation, "\(value)")
  }
  let nothing = readThreeWays(request("POST / HTTP/1.1", "Expect: ,"))
  #expect(nothing.expectsContinue == false)
  #expect(nothing.problem == nil)
  let old = readThreeWays(request("POST / HTTP/1.0", "Expect: 100-continue, a cake"))
  #expect(old.expectsContinue == false)
  #expect(old.problem == nil)
}

@Test func `a condition is noticed`() {
  for name in ["If-Match", "if-none-match", "If-Modified-Since", "IF-UNMODIFIED-SINCE"] {
    #expect(readThreeWays(request("GET / HTTP/1.1", "\(name): a")).isConditional == true, "\(name)")
  }
  for name in ["If-Range", "Transfer-Encodin", "X-If-None-Mat"] {
    #expect(
      readThreeWays(request("GET / HTTP/1.1", "\(name): a")).isConditional == false, "\(name)")
  }
}

@Test func `every error says what is wrong`() {
  for error in RequestError.allCases {
    #expect(!error.detail.isEmpty)
    #expect((400...599).contains(error.status.code))
  }
}
