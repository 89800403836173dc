import HTTPTypes

/// `METHOD TARGET HTTP/1.1` (RFC 9112 §3).
struct RequestLine {
  let method: HTTPRequest.Method
  let target: RequestTarget
  let version: HTTPVersion
  let problem: RequestError?

  /// Longer than any registered method; more is 501 (RFC 9112 §3).
  static let longestMethod = 32

  /// Reads the line.
  ///
  /// Exactly one space separates the parts: RFC 9112 §3 lets a server be lenient about white
  /// space, but warns that being so has been used for smuggling.
  init(
    _ bytes: Span<UInt8>, _ range: Range<Int>, limits: MessageLimits
  ) throws(RequestError) {
    let methodRange = try Self.method(in: bytes, range)
    guard let method = HTTPRequest.Method(bytes.string(methodRange)) else { throw .invalidMethod }
    self.method = method

    let start = methodRange.upperBound + 1
    var end = start
    while end < range.upperBound, bytes[end].isTargetCharacter { end += 1 }
    let targetRange = start..<end
    guard !targetRange.isEmpty else { throw .invalidRequestLine }
    // Without a version it is HTTP/0.9.
    guard end < range.upperBound else { throw .invalidRequestLine }
    guard bytes[end] == .space else { throw .invalidTarget }
    guard targetRange.count <= limits.targetLength else { throw .targetTooLong }
    version = try HTTPVersion(bytes, in: end + 1..<range.upperBound)
    // RFC 9110 §9.3.6: only a proxy tunnels, and its target has a form of its own.
    if method == .connect { throw .connectRefused }
    (target, problem) = try RequestTarget.parse(
      bytes, targetRange, isOptions: method == .options)
  }

  /// Where the method stands in a line, or in the beginning of one.
  static func method(
    in bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(RequestError) -> Range<Int> {
    var end = range.lowerBound
    while end < range.upperBound, bytes[end].isTokenCharacter { end += 1 }
    guard end > range.lowerBound else { throw .invalidMethod }
    guard end - range.lowerBound <= longestMethod else { throw .methodTooLong }
    guard end < range.upperBound else { throw .invalidRequestLine }
    guard bytes[end] == .space else { throw .invalidMethod }
    return range.lowerBound..<end
  }

  /// Whether bytes begin with `HEAD` and a space, whatever follows.
  static func isHead(_ bytes: Span<UInt8>, from start: Int) -> Bool {
    let most = start..<min(bytes.count, start + longestMethod + 1)
    guard let range = try? method(in: bytes, most) else { return false }
    return HTTPRequest.Method(bytes.string(range)) == .head
  }
}
