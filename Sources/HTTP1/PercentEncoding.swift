/// Percent-encoding as in RFC 3986 §2.1.
package enum PercentEncoding {
  /// The text that a percent-encoded one stands for, or nil where that is malformed or not UTF-8.
  ///
  /// - Parameters:
  ///   - text: The text as it was sent.
  ///   - plusIsSpace: As in `application/x-www-form-urlencoded`, which queries use.
  /// - Returns: The text, in which anything may stand, NUL too.
  package static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    let bytes = Array(text.utf8)
    return decoded(bytes.span, 0..<bytes.count, plusIsSpace: plusIsSpace)
  }

  /// A text with everything but RFC 3986's unreserved characters encoded.
  package static func encoded(_ text: some StringProtocol) -> String {
    var result: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      if byte.isDigit || byte.isLetter || "-._~".utf8.contains(byte) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension PercentEncoding {
  /// The same of a part of some bytes.
  ///
  /// O(n); no array where nothing is encoded.
  static func decoded(
    _ bytes: Span<UInt8>, _ range: Range<Int>, plusIsSpace: Bool = false
  ) -> String? {
    for index in range {
      let byte = bytes[index]
      guard byte == UInt8(ascii: "%") || byte >= 0x80 || plusIsSpace && byte == UInt8(ascii: "+")
      else { continue }
      return decodedBytes(bytes, range, plusIsSpace: plusIsSpace)
        .flatMap { String(validating: $0, as: UTF8.self) }
    }
    return bytes.string(range)
  }

  private static func decodedBytes(
    _ bytes: Span<UInt8>, _ range: Range<Int>, plusIsSpace: Bool
  ) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      switch bytes[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < range.upperBound, let high = bytes[index + 1].hexadecimalValue,
          let low = bytes[index + 2].hexadecimalValue
        else { return nil }
        result.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where plusIsSpace: result.append(.space)
      case let byte: result.append(byte)
      }
      index += 1
    }
    return result
  }
}
