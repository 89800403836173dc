import HTTPTypes

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

  /// Whether the request is a HEAD, as far as can be told while its head is not whole or not sound:
  /// a refusal of it has no body either (RFC 9110 §9.3.2).
  ///
  /// - Parameters:
  ///   - bytes: What was not consumed.
  ///   - offset: Where that begins.
  /// - Returns: Whether its method is known to be HEAD.
  package func isHead(_ bytes: Span<UInt8>, from offset: Int) -> Bool {
    if let line { return line.method == .head }
    return RequestLine.isHead(bytes, from: offset)
  }

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
      if line == nil {
        // A line that is refused stays, for `isHead`.
        try readFirstLine(bytes, range)
        offset = range.upperBound + 2
        continue
      }
      size += range.count + 2
      offset = range.upperBound + 2
      if range.isEmpty { return try finish() }
      guard collected.fields.count < limits.fieldCount else { throw .tooManyFields }
      try collected.read(bytes, range)
    }
    return nil
  }

  private mutating func nextLine(
    _ bytes: Span<UInt8>, from start: Int
  ) throws(RequestError) -> Range<Int>? {
    guard line == nil else {
      return try scanner.line(
        in: bytes, from: start, limit: limits.headSize - size, tooLong: .headTooLarge)
    }
    // The longest method, two spaces, the version and CRLF are not the target's.
    let most = min(limits.headSize, limits.targetLength + RequestLine.longestMethod + 12)
    do throws(RequestError) {
      return try scanner.line(in: bytes, from: start, limit: most, tooLong: .targetTooLong)
    } catch {
      // RFC 9112 §3: 414 is about the target, and it may be the method that is too long.
      if error == .targetTooLong { _ = try RequestLine.method(in: bytes, start..<start + most) }
      throw error
    }
  }

  private mutating func readFirstLine(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(RequestError) {
    if range.isEmpty {
      // RFC 9112 §2.2: an empty line before the request is ignored, for clients that send one
      // after a body.
      guard !hasSkippedEmptyLine else { throw .invalidRequestLine }
      hasSkippedEmptyLine = true
      return
    }
    line = try RequestLine(bytes, range, limits: limits)
    size = range.count + 2
  }

  private mutating func finish() throws(RequestError) -> RequestHead {
    guard let line else { throw .invalidRequestLine }
    let version = line.version
    try collected.checkHost(version: version)
    let head = RequestHead(
      method: line.method, target: line.target, version: version,
      fields: collected.httpFields,
      framing: try collected.framing.framing(version: version, limit: limits.bodySize),
      // RFC 9112 §9.3: `close` goes before `keep-alive`, in either version.
      keepsAlive: !collected.hasClose && (version == .http11 || collected.hasKeepAlive),
      // RFC 9110 §10.1.1: the expectation of an HTTP/1.0 client is ignored.
      expectsContinue: version == .http11 && collected.expectsContinue,
      isConditional: collected.isConditional,
      // Before the others, which the body may be waited for with.
      problem: version == .http11 && collected.hasUnknownExpectation
        ? .unsupportedExpectation : line.problem)
    self = RequestHeadParser(limits: limits)
    return head
  }
}
