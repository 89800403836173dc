import Algorithms
import HTTP1

// Lists in fields, read by their bytes: to Swift a comma is none any more behind which a letter stands
// that combines with it, and whoever writes the first item could hide the next one.
extension Substring {
  /// The text without the blanks around it (RFC 9110 §5.6.3).
  var trimmed: Substring {
    Substring(utf8.trimming { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
  }

  /// The parts between separators that do not stand in a quoted string (RFC 9110 §5.6.4), trimmed, and
  /// without empty ones.
  ///
  /// Read from the end: what the last proxy has appended is whole, whatever quotes stand open before it.
  func unquotedParts(at separator: UInt8) -> [Substring] {
    let quote = UInt8(ascii: "\"")
    var parts: [Substring] = []
    var end = endIndex
    var isQuoted = false
    for index in utf8.indices.reversed() {
      let byte = utf8[index]
      if byte == quote, !isQuoted || !isEscaped(index) {
        isQuoted.toggle()
      } else if byte == separator, !isQuoted {
        parts.append(self[utf8.index(after: index)..<end])
        end = index
      }
    }
    parts.append(self[..<end])
    return parts.reversed().map(\.trimmed).filter { !$0.isEmpty }
  }

  /// Whether an odd number of backslashes stands before a byte.
  private func isEscaped(_ index: Index) -> Bool {
    let count = self[..<index].utf8.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
    return !count.isMultiple(of: 2)
  }
}

extension StringProtocol {
  /// The items of a list (RFC 9110 §5.6.1), trimmed, and without empty ones.
  package var listItems: [Substring] {
    Substring(self).utf8.split(separator: UInt8(ascii: ",")).map { Substring($0).trimmed }
      .filter { !$0.isEmpty }
  }
}
