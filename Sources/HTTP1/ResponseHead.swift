package import HTTPTypes

/// A status line and a header section, as a client reads them (RFC 9112 §4, §6).
package struct ResponseHead: Sendable {
  package let status: Int

  /// All fields in order.
  package let fields: HTTPFields

  /// How the body is delimited; nil: by the end of the connection.
  package let framing: BodyFraming?

  /// Reads a head from all bytes that came so far; nil where more are needed.
  ///
  /// O(n) for n bytes, from the beginning in each call: a client reads few heads, and most are whole
  /// at once.
  ///
  /// - Parameters:
  ///   - bytes: Bytes that begin with the head.
  ///   - offset: Moved past the head, where that is whole.
  ///   - limits: How much is read before the head is refused.
  /// - Throws: Why these bytes are no head.
  package init?(
    _ bytes: Span<UInt8>, from offset: inout Int, limits: MessageLimits
  ) throws(RequestError) {
    var scanner = LineScanner()
    var start = offset
    var first: (version: HTTPVersion, status: Int)?
    var collected = CollectedFields()
    while true {
      let line = try scanner.line(
        in: bytes, from: start, limit: limits.headSize - (start - offset), tooLong: .headTooLarge)
      guard let line else { return nil }
      start = line.upperBound + 2
      guard let first else {
        first = try Self.readStatus(bytes, line)
        continue
      }
      guard line.isEmpty else {
        try collected.read(bytes, line)
        continue
      }
      status = first.status
      fields = collected.httpFields
      framing =
        collected.framing.isEmpty
        ? nil : try collected.framing.framing(version: first.version, limit: limits.bodySize)
      offset = start
      return
    }
  }

  /// `HTTP/1.1 200 REASON`; the reason means nothing, and may be missing.
  private static func readStatus(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(RequestError) -> (HTTPVersion, Int) {
    let digits = line.lowerBound + 9..<line.lowerBound + 12
    guard digits.upperBound <= line.upperBound, bytes[digits.lowerBound - 1] == .space,
      let status = Int(bytes.string(digits)), status >= 100
    else { throw .invalidVersion }
    return (try HTTPVersion(bytes, in: line.lowerBound..<digits.lowerBound - 1), status)
  }
}
