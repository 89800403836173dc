import HTTP1
import SeededRandom
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

private let seeds = [
  request(),
  request("GET /a/b?c=d&e HTTP/1.1", "Accept: */*", "Connection: keep-alive, close"),
  request("POST / HTTP/1.1", "Content-Length: 5", body: "hello"),
  request(
    "POST / HTTP/1.1", "Transfer-Encoding: chunked",
    body: "5;a=b;c=\"d \\\" e\"\r\nhello\r\n0\r\nA: b\r\n\r\n"),
  request("PUT http://[v1.a:b]:80/x/../y%20z HTTP/1.1", "Expect: 100-continue"),
  request("HEAD /a HTTP/1.1", "If-Match: \"a\", W/\"b\"", host: "Host: [1:2::3:4.5.6.7]:80"),
  request("GET / HTTP/1.0", "Connection: keep-alive", host: nil),
  request("OPTIONS * HTTP/1.1", "X: " + String(repeating: "y", count: 80)),
].map { Array($0.utf8) }

private let interesting = [
  "\r\n", "\r", "\n", " ", "\t", ":", ";", ",", "%", "%00", "%2e", "/", "..", "?", "\u{0}",
  "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "Host: b\r\n", "chunked", "0", "f",
  "HTTP/1.1", "99999999999999999999", "[::1]", "::", "\u{e9}", "\"", "\\", "=", "HEAD ",
  "Expect: a\r\n", "Connection: close\r\n",
].map { Array($0.utf8) }

extension [UInt8] {
  /// Some bytes changed, taken out, doubled, or put in.
  fileprivate func mutated(using generator: inout SeededGenerator) -> [UInt8] {
    var result = self
    for _ in 0...Int.random(in: 0..<4, using: &generator) {
      let place = Int.random(in: 0...result.count, using: &generator)
      let end = Swift.min(result.count, place + Int.random(in: 0..<12, using: &generator))
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: result.insert(UInt8.random(in: 0...255, using: &generator), at: place)
      case 1: result.removeSubrange(place..<end)
      case 2: result.insert(contentsOf: Array(result[place..<end]), at: place)
      case 3 where place < result.count:
        result[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      default:
        if let text = interesting.randomElement(using: &generator) {
          result.insert(contentsOf: text, at: place)
        }
      }
    }
    return result
  }

  fileprivate func divided(using generator: inout SeededGenerator) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var rest = self[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...9, using: &generator)
      result.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return result
  }
}

/// A number from the environment.
private func setting<Number: FixedWidthInteger>(_ name: String) -> Number? {
  getenv(name).flatMap { Number(String(cString: $0)) }
}

/// `HTTP1_MUTATIONS=10000000 swift test -c release --filter MutationTests` for a long run.
@Test func `whatever comes is read alike in any division`() {
  let seed: UInt64 = setting("HTTP1_SEED") ?? .random(in: 0...UInt64.max)
  let count: Int = setting("HTTP1_MUTATIONS") ?? 20_000
  var generator = SeededGenerator(seed: seed)
  var limits = MessageLimits()
  limits.headSize = 300
  limits.targetLength = 100
  limits.fieldCount = 6
  limits.bodySize = 100
  limits.chunkExtensionSize = 20
  limits.trailerSize = 30
  var complete = 0
  for step in 0..<count {
    let input = seeds[step % seeds.count].mutated(using: &generator)
    let whole = read(pieces: [input], limits: limits)
    let divided = read(pieces: input.divided(using: &generator), limits: limits)
    let byteByByte = read(pieces: input.map { [$0] }, limits: limits)
    if whole != byteByByte || whole != divided {
      Issue.record(
        """
        HTTP1_SEED=\(seed), step \(step): \(String(reflecting: String(decoding: input, as: UTF8.self)))
        whole: \(whole)
        byte by byte: \(byteByByte)
        divided: \(divided)
        """)
      return
    }
    if whole.isComplete { complete += 1 }
    #expect(whole.bodySize <= limits.bodySize)
  }
  print("HTTP1_SEED=\(seed): \(count) mutations, \(complete) of them whole requests")
  #expect(complete > count / 20)
}
