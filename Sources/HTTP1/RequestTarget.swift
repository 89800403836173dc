/// What a request asks for (RFC 9112 §3.2).
package struct RequestTarget: Sendable, Equatable {
  /// The target as it was sent.
  package var text: String

  /// The segments of the path, decoded, with dot segments removed.
  ///
  /// A final empty one stands for a slash at the end. The path `/` has none.
  package var path: [String] = []

  /// The same segments as they were sent, so that a `,` and a `%2C` can be told apart.
  package var encodedPath: [String] = []

  /// The items of the query, decoded, in order.
  package var query: [QueryItem] = []

  /// The authority of an absolute target, which then counts instead of the Host field
  /// (RFC 9112 §3.2.2).
  package var authority: String?

  /// `OPTIONS *`: the server as a whole.
  package var isAsterisk: Bool { text == "*" }
}

extension RequestTarget {
  /// Paths of no more segments are read without an array that grows.
  private static let usualDepth = 6

  /// Reads a target of which it is known that it has only the characters of one, and at least one.
  ///
  /// O(n), on bytes: to split a `String` looks for the ends of its characters, which costs more
  /// than everything else here. A problem that does not touch framing is returned beside the
  /// target.
  static func parse(
    _ bytes: Span<UInt8>, _ range: Range<Int>, isOptions: Bool
  ) throws(RequestError) -> (RequestTarget, problem: RequestError?) {
    var target = RequestTarget(text: bytes.string(range))
    var start = range.lowerBound
    if bytes[start] != UInt8(ascii: "/") {
      if target.isAsterisk, isOptions { return (target, nil) }
      let authority = try authority(bytes, range)
      target.authority = bytes.string(authority)
      start = authority.upperBound
    }
    let mark = bytes.firstIndex(of: UInt8(ascii: "?"), in: start..<range.upperBound)
    let problem = target.readPath(bytes, start..<mark)
    if mark < range.upperBound {
      guard let items = QueryItem.items(bytes, mark + 1..<range.upperBound) else {
        return (target, problem ?? .invalidPercentEncoding)
      }
      target.query = items
    }
    return (target, problem)
  }

  /// Finds the authority of `http://host:port/path`.
  private static func authority(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(RequestError) -> Range<Int> {
    let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: range)
    let start = colon + 3
    guard
      bytes.equals("http", in: range.lowerBound..<colon)
        || bytes.equals("https", in: range.lowerBound..<colon),
      start <= range.upperBound, bytes.equals("://", in: colon..<start)
    else { throw .invalidTarget }
    let end = min(
      bytes.firstIndex(of: UInt8(ascii: "/"), in: start..<range.upperBound),
      bytes.firstIndex(of: UInt8(ascii: "?"), in: start..<range.upperBound))
    // RFC 9110 §4.2.1: an http URI has a host. User information is not a host character.
    guard start < end, isHost(bytes.extracting(start..<end)) else { throw .invalidTarget }
    return start..<end
  }

  /// Splits before it decodes, so that `%2F` does not become a separator, and removes dot segments
  /// (RFC 3986 §5.2.4), encoded ones too, as browsers do.
  private mutating func readPath(_ bytes: Span<UInt8>, _ range: Range<Int>) -> RequestError? {
    guard range.count > 1 else { return nil }
    var start = range.lowerBound + 1
    while start <= range.upperBound {
      let end = bytes.firstIndex(of: UInt8(ascii: "/"), in: start..<range.upperBound)
      guard let segment = PercentEncoding.decoded(bytes, start..<end) else {
        return .invalidPercentEncoding
      }
      if segment == "." || segment == ".." {
        guard segment == "." || path.popLast() != nil else { return .pathLeavesRoot }
        encodedPath.removeLast(encodedPath.count - path.count)
        if end == range.upperBound, !path.isEmpty { append("", encoded: "") }
      } else {
        let isPlain = segment.utf8.count == end - start
        append(segment, encoded: isPlain ? segment : bytes.string(start..<end))
      }
      start = end + 1
    }
    if path == [""] { (path, encodedPath) = ([], []) }
    return nil
  }

  private mutating func append(_ segment: String, encoded: String) {
    if path.isEmpty {
      path.reserveCapacity(Self.usualDepth)
      encodedPath.reserveCapacity(Self.usualDepth)
    }
    path.append(segment)
    encodedPath.append(encoded)
  }
}
