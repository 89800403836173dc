package import Foundation

/// A JSON value as it was written: taken apart without giving up its order and its spelling.
///
/// The text is a server's own, so that it is taken to be well-formed: anything else gives fewer
/// pieces, not an error.
package struct RawJSON: Sendable {
  /// UTF-8, without space around it.
  package let bytes: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  package init(_ text: String) { self.init(Self.trimmed(Array(text.utf8)[...])) }

  /// As it was written.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package var data: Data { Data(bytes) }

  /// The members of an object, in order: O(n), n bytes.
  package var members: [(name: String, value: RawJSON)] {
    pieces(limit: .max).compactMap { piece in
      guard piece.first == UInt8(ascii: "\"") else { return nil }
      let end = Self.stringEnd(piece, piece.startIndex)
      let rest = piece[end...].drop { $0 == UInt8(ascii: ":") || Self.isSpace($0) }
      return (RawJSON(piece[..<end]).plain, RawJSON(rest))
    }
  }

  /// The last member of that name: O(n), n bytes.
  package subscript(name: String) -> RawJSON? { members.last { $0.name == name }?.value }

  /// The members by their names; of two of one name the last.
  package var object: [String: RawJSON] {
    Dictionary(members.map { ($0.name, $0.value) }) { $1 }
  }

  /// The first elements of an array.
  package func elements(limit: Int = .max) -> [RawJSON] { pieces(limit: limit).map(RawJSON.init) }

  /// A string without its quotes and escapes; any other value as it is written.
  package var plain: String { string ?? text }

  /// nil: it is no string.
  package var string: String? {
    guard bytes.count > 1, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"")
    else { return nil }
    let inner = bytes.dropFirst().dropLast()
    guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
    return try? JSONDecoder().decode(String.self, from: data)
  }

  package var isNull: Bool { bytes.elementsEqual("null".utf8) }

  package var int: Int? { Int(text) }

  /// What stands between the commas of the outermost object or array.
  private func pieces(limit: Int) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var depth = 0
    var start = bytes.startIndex
    var index = start
    while index < bytes.endIndex, pieces.count < limit {
      switch bytes[index] {
      case UInt8(ascii: "\""): index = Self.stringEnd(bytes, index) - 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 1 { start = index + 1 }
      case UInt8(ascii: ","):
        if depth == 1 {
          pieces.append(Self.trimmed(bytes[start..<index]))
          start = index + 1
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        guard depth == 0 else { break }
        let last = Self.trimmed(bytes[start..<index])
        if !last.isEmpty { pieces.append(last) }
      default: break
      }
      index += 1
    }
    return pieces
  }

  /// Where the string that begins at an index is over.
  private static func stringEnd(_ bytes: ArraySlice<UInt8>, _ start: Int) -> Int {
    var index = start + 1
    while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.endIndex)
  }

  private static func trimmed(_ piece: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var piece = piece.drop(while: isSpace)
    while let last = piece.last, isSpace(last) { piece.removeLast() }
    return piece
  }

  /// RFC 8259 §2.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
