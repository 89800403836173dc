import Foundation

/// Takes JSON apart without giving up its order and its spelling, both of which people read.
///
/// The text is a server's own, so that it is taken to be well-formed: anything else gives fewer
/// pieces, not an error.
enum JSONText {
  /// The members of an object, in order, their values as they are written: O(n).
  static func members(_ text: String) -> [(name: String, value: String)] {
    pieces(text, limit: .max).compactMap { piece in
      guard let end = nameEnd(piece) else { return nil }
      let rest = piece[end...].drop { $0 == UInt8(ascii: ":") || isSpace($0) }
      return (plain(string(piece[..<end])), string(rest))
    }
  }

  /// The first elements of an array, as they are written.
  static func elements(_ text: String, limit: Int) -> [String] {
    pieces(text, limit: limit).map(string)
  }

  /// A string without its quotes and escapes; any other value as it is written.
  static func plain(_ value: String) -> String {
    guard value.hasPrefix("\""), value.hasSuffix("\""), value.utf8.count > 1 else { return value }
    guard value.utf8.contains(UInt8(ascii: "\\")) else {
      return String(value.dropFirst().dropLast())
    }
    let text = try? JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
    return text as? String ?? value
  }

  /// What stands between the commas of the outermost object or array.
  private static func pieces(_ text: String, limit: Int) -> [ArraySlice<UInt8>] {
    let bytes = Array(text.utf8)
    var pieces: [ArraySlice<UInt8>] = []
    var depth = 0
    var start = 0
    var index = 0
    while index < bytes.count, pieces.count < limit {
      switch bytes[index] {
      case UInt8(ascii: "\""): index = stringEnd(bytes, index) - 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 1 { start = index + 1 }
      case UInt8(ascii: ","):
        if depth == 1 {
          pieces.append(trimmed(bytes[start..<index]))
          start = index + 1
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        let last = trimmed(bytes[start..<index])
        if depth == 0, !last.isEmpty { pieces.append(last) }
      default: break
      }
      index += 1
    }
    return pieces
  }

  /// Where the string that begins at an index is over.
  private static func stringEnd(_ bytes: [UInt8], _ start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }

  private static func nameEnd(_ piece: ArraySlice<UInt8>) -> Int? {
    guard piece.first == UInt8(ascii: "\"") else { return nil }
    return piece.startIndex + stringEnd(Array(piece), 0)
  }

  private static func trimmed(_ piece: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var piece = piece.drop(while: isSpace)
    while let last = piece.last, isSpace(last) { piece.removeLast() }
    return piece
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private static func string(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
