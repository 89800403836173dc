import HTTP1
import HTTPTypes

/// What part of a file is asked for (RFC 9110 §14.2).
enum ByteRange: Equatable {
  case whole
  case part(Range<Int>)
  case unsatisfiable

  /// Reads Range and If-Range.
  ///
  /// What is malformed, of another unit, or more than one range is ignored, as §14.2 lets a server
  /// do: a list of ranges is a way to ask for much with little.
  ///
  /// - Parameters:
  ///   - request: asks for it.
  ///   - size: bytes of the whole.
  ///   - isCurrent: whether what If-Range says is what there is: §13.1.5.
  /// - Returns: the range.
  static func requested(
    by request: Request, size: Int, isCurrent: (_ condition: String) -> Bool
  ) -> ByteRange {
    guard request.method == .get, let text = request.fields[.range],
      request.fields[.ifRange].map(isCurrent) ?? true,
      text.hasPrefix("bytes=")
    else { return .whole }
    let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else {
      return .whole
    }
    switch (number(bounds[0]), number(bounds[1])) {
    case (nil, let count?):
      return count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
    case (let first?, let last):
      if let last, last < first { return .whole }
      guard first < size else { return .unsatisfiable }
      return .part(first..<min(size, (last ?? size - 1) &+ 1))
    case (nil, nil): return .whole
    }
  }

  /// Nil for no digits; what is too large for an integer is larger than any file.
  private static func number(_ digits: Substring) -> Int? {
    digits.isEmpty ? nil : Int(digits) ?? Int.max - 1
  }
}
