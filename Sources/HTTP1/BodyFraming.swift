/// How long a request's body is.
package enum BodyFraming: Sendable, Equatable {
  case none
  case length(Int)
  case chunked
}

/// The fields that decide framing, gathered while they are read.
///
/// They are not looked up afterwards: a dictionary of fields would hide the second Content-Length.
struct FramingFields {
  private var contentLength: Int?
  private var hasTransferEncoding = false
  private var isChunked = false
  private var isUnknownCoding = false

  /// Whether nothing was said of a body.
  var isEmpty: Bool { contentLength == nil && !hasTransferEncoding }

  mutating func noteContentLength(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestError) {
    // RFC 9110 §8.6 lets equal values be joined; equal or not, no honest client repeats it.
    guard contentLength == nil else { throw .repeatedContentLength }
    guard !range.isEmpty else { throw .invalidContentLength }
    var length = 0
    for index in range {
      guard bytes[index].isDigit else { throw .invalidContentLength }
      let (product, overflow) = length.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int(bytes[index] - UInt8(ascii: "0")))
      // A number, but of more bytes than there are.
      guard !overflow, !carry else { throw .bodyTooLarge }
      length = sum
    }
    contentLength = length
  }

  /// RFC 9112 §6.1: several fields are one list.
  mutating func noteTransferEncoding(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(RequestError) {
    hasTransferEncoding = true
    var start = range.lowerBound
    while let coding = bytes.nextElement(in: range, from: &start) {
      // RFC 9110 §5.6.1.2: empty elements of a list are ignored.
      if coding.isEmpty { continue }
      // RFC 9112 §6.3: a coding after chunked, or chunked twice, leaves no way to find the end.
      guard !isChunked else { throw .chunkedNotLast }
      if bytes.equals("chunked", in: coding) { isChunked = true } else { isUnknownCoding = true }
    }
  }

  func framing(version: HTTPVersion, limit: Int) throws(RequestError) -> BodyFraming {
    guard hasTransferEncoding else {
      guard let contentLength else { return .none }
      guard contentLength <= limit else { throw .bodyTooLarge }
      return contentLength == 0 ? .none : .length(contentLength)
    }
    // RFC 9112 §6.1: both mean an attempt at smuggling; so does the field in HTTP/1.0.
    guard contentLength == nil else { throw .contentLengthWithTransferEncoding }
    guard version == .http11 else { throw .transferEncodingInHTTP10 }
    if isUnknownCoding {
      if isChunked { throw .unknownTransferCoding }
      throw .chunkedNotLast
    }
    guard isChunked else { throw .invalidTransferEncoding }
    return .chunked
  }
}
