package import HTTPTypes

extension Response {
  /// Bytes in memory, or the part of them that is asked for (RFC 9110 §14).
  ///
  /// O(b), b bytes of the part.
  ///
  /// - Parameters:
  ///   - bytes: the whole.
  ///   - tag: names them, as an ETag that is strong.
  ///   - fields: what describes them.
  ///   - request: what is answered.
  package init(
    _ bytes: [UInt8], tag: String, _ fields: HTTPFields, rangeFor request: Request
  ) {
    var fields = fields
    fields[.eTag] = tag
    fields[.acceptRanges] = "bytes"
    switch ByteRange.requested(by: request, size: bytes.count, isCurrent: { $0 == tag }) {
    case .whole: self.init(.ok, fields, body: .bytes(bytes))
    case .part(let range):
      fields[.contentRange] = range.contentRange(of: bytes.count)
      self.init(.partialContent, fields, body: .bytes(Array(bytes[range])))
    case .unsatisfiable:
      self = Problem.response(.unsatisfiable("It", size: bytes.count, fields))
    }
  }
}

extension Range<Int> {
  /// RFC 9110 §14.4.
  func contentRange(of size: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(size)" }
}

extension Problem {
  /// A range of which there is nothing.
  static func unsatisfiable(_ what: String, size: Int, _ fields: HTTPFields) -> Problem {
    var fields = fields
    fields[.contentRange] = "bytes */\(size)"
    return Problem(.rangeNotSatisfiable, "\(what) has \(size) bytes.", fields: fields)
  }
}
