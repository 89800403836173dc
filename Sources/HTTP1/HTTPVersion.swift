/// The versions of HTTP that differ for this server.
package enum HTTPVersion: Sendable, Equatable {
  case http10, http11

  /// Reads `HTTP/1.1`.
  ///
  /// A minor version above 1 is treated as 1 (RFC 9110 §2.5).
  init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(RequestError) {
    let start = range.lowerBound
    guard range.count == 8, bytes.equals("http/", in: start..<start + 5),
      // `equals` ignores case, but HTTP-name is case-sensitive (RFC 9112 §2.3).
      bytes[start] == UInt8(ascii: "H"), bytes[start + 1] == UInt8(ascii: "T"),
      bytes[start + 2] == UInt8(ascii: "T"), bytes[start + 3] == UInt8(ascii: "P"),
      bytes[start + 5].isDigit, bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
    else { throw .invalidVersion }
    // RFC 9110 §15.6.6. The HTTP/2 preface `PRI * HTTP/2.0` ends here too.
    guard bytes[start + 5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
    self = bytes[start + 7] == UInt8(ascii: "0") ? .http10 : .http11
  }
}
