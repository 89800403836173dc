import HTTPTypes

/// The fields of a head, and what those that the connection must understand say.
struct CollectedFields: Sendable {
  /// Made into `HTTPFields` at the end, at once: to append to those one by one is slow.
  private(set) var fields: [HTTPField] = []
  var framing = FramingFields()
  private(set) var hasClose = false
  private(set) var hasKeepAlive = false
  private(set) var expectsContinue = false
  private(set) var hasUnknownExpectation = false
  private(set) var isConditional = false
  private var hasHost = false

  var httpFields: HTTPFields {
    var result = HTTPFields()
    result.replaceSubrange(0..<0, with: fields)
    return result
  }

  /// Reads one line, which is not empty.
  mutating func read(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(RequestError) {
    let (name, value) = try Self.split(bytes, line)
    try note(bytes, name: name, value: value)
    guard let fieldName = KnownNames.field(bytes, name) ?? HTTPField.Name(bytes.string(name))
    else { throw .invalidFieldName }
    if fields.isEmpty { fields.reserveCapacity(8) }
    fields.append(
      bytes.extracting(value).withUnsafeBufferPointer { HTTPField(name: fieldName, value: $0) })
  }

  /// RFC 9112 §3.2: exactly one Host in HTTP/1.1.
  func checkHost(version: HTTPVersion) throws(RequestError) {
    guard hasHost || version == .http10 else { throw .missingHost }
  }

  /// Splits and checks a field line, of a header or of a trailer section (RFC 9112 §5).
  static func split(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(RequestError) -> (name: Range<Int>, value: Range<Int>) {
    // RFC 9112 §5.2: obs-fold, or white space before the first field (§2.2).
    guard !bytes[line.lowerBound].isBlank else { throw .foldedField }
    var end = line.lowerBound
    while end < line.upperBound, bytes[end].isTokenCharacter { end += 1 }
    guard end > line.lowerBound, end < line.upperBound else { throw .invalidFieldName }
    guard bytes[end] == UInt8(ascii: ":") else {
      // RFC 9112 §5.1: it has been used for smuggling.
      throw bytes[end].isBlank ? .whitespaceBeforeColon : .invalidFieldName
    }
    // A line has no control character but tabs, so that every value is one (RFC 9110 §5.5).
    return (line.lowerBound..<end, bytes.trimmingBlanks(end + 1..<line.upperBound))
  }

  private mutating func note(
    _ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>
  ) throws(RequestError) {
    switch name.count {
    case 4 where bytes.equals("host", in: name):
      guard !hasHost else { throw .repeatedHost }
      guard isHost(bytes.extracting(value)) else { throw .invalidHost }
      hasHost = true
    case 6 where bytes.equals("expect", in: name): noteExpectation(bytes, value)
    case 8 where bytes.equals("if-match", in: name): isConditional = true
    case 10 where bytes.equals("connection", in: name): noteConnection(bytes, value)
    case 13 where bytes.equals("if-none-match", in: name): isConditional = true
    case 14 where bytes.equals("content-length", in: name):
      try framing.noteContentLength(bytes, value)
    case 17 where bytes.equals("transfer-encoding", in: name):
      try framing.noteTransferEncoding(bytes, value)
    case 17 where bytes.equals("if-modified-since", in: name): isConditional = true
    case 19 where bytes.equals("if-unmodified-since", in: name): isConditional = true
    default: break
    }
  }

  private mutating func noteConnection(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    while let option = bytes.nextElement(in: range, from: &start) {
      if bytes.equals("close", in: option) { hasClose = true }
      if bytes.equals("keep-alive", in: option) { hasKeepAlive = true }
    }
  }

  private mutating func noteExpectation(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    while let expectation = bytes.nextElement(in: range, from: &start) {
      if bytes.equals("100-continue", in: expectation) {
        expectsContinue = true
      } else if !expectation.isEmpty {
        hasUnknownExpectation = true
      }
    }
  }
}
