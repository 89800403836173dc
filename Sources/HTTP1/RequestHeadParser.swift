/// Reads the heads of requests from bytes that come in any division.
///
/// Lines are consumed as they become whole, so that an error is found at its line and not at the
/// end of the head, and no byte is looked at twice. O(n) for n bytes.
package struct RequestHeadParser: Sendable {
  let limits: MessageLimits
  private var scanner = LineScanner()
  private var line: RequestLine?
  private var collected = CollectedFields()
  /// Bytes of the head consumed so far.
  private var size = 0
  private var hasSkippedEmptyLine = false

  /// A parser of one head after the other.
  package init(limits: MessageLimits) {
    self.limits = limits
  }

  /// Whether a part of a head has been consumed.
  package var isInsideHead: Bool { size > 0 }

  /// Consumes whole lines and returns a head as soon as it is complete.
  ///
  /// - Parameters:
  ///   - bytes: Bytes that begin where the last call stopped consuming, and as many more as came.
  ///   - offset: Where they begin; moved past what was consumed.
  /// - Returns: The head, or nil where more bytes are needed.
  /// - Throws: Why the request is refused. The parser must not be used again then.
  package mutating func parse(
    _ bytes: Span<UInt8>, from offset: inout Int
  ) throws(RequestError) -> RequestHead? {
    while let range = try nextLine(bytes, from: offset) {
      size += range.count + 2
      offset = range.upperBound + 2
      if line == nil {
        try readFirstLine(bytes, range)
      } else if range.isEmpty {
        return try finish()
      } else {
        guard collected.fields.count < limits.fieldCount else { throw .tooManyFields }
        try collected.read(bytes, range)
      }
    }
    return nil
  }

  private mutating func nextLine(
    _ bytes: Span<UInt8>, from start: Int
  ) throws(RequestError) -> Range<Int>? {
    // A method of 32 bytes, two spaces, the version and CRLF are not the target's.
    let most = line == nil ? min(limits.headSize, limits.targetLength + 44) : limits.headSize - size
    return try scanner.line(
      in: bytes, from: start, limit: most,
      tooLong: line == nil ? .targetTooLong : .headTooLarge)
  }

  private mutating func readFirstLine(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(RequestError) {
    if range.isEmpty {
      // RFC 9112 §2.2: an empty line before the request is ignored, for clients that send one
      // after a body.
      guard !hasSkippedEmptyLine else { throw .invalidRequestLine }
      hasSkippedEmptyLine = true
      size = 0
      return
    }
    line = try RequestLine(bytes, range, limits: limits)
  }

  private mutating func finish() throws(RequestError) -> RequestHead {
    guard let line else { throw .invalidRequestLine }
    let version = line.version
    try collected.checkHost(version: version)
    let head = RequestHead(
      method: line.method, target: line.target, version: version,
      fields: collected.httpFields,
      framing: try collected.framing.framing(version: version, limit: limits.bodySize),
      keepsAlive: version == .http11 ? !collected.hasClose : collected.hasKeepAlive,
      // RFC 9110 §10.1.1: the expectation of an HTTP/1.0 client is ignored.
      expectsContinue: version == .http11 && collected.expectsContinue,
      problem: line.problem
        ?? (version == .http11 && collected.hasUnknownExpectation ? .unsupportedExpectation : nil))
    self = RequestHeadParser(limits: limits)
    return head
  }
}
