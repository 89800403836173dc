/// Copies a JSON text (RFC 8259) without the space between its tokens, so that it is one line, and
/// checks it on the way.
///
/// What is grammatical is taken as it is: numbers of any size, names that come twice, escapes of half a
/// surrogate pair. The caller has checked that the bytes are UTF-8.
struct CompactJSON {
  private let text: UnsafeRawBufferPointer
  private var position = 0
  /// The closing brackets of what is open.
  private var open: [UInt8] = []

  /// SQLite's own bound (JSON_MAX_DEPTH in json.c): it makes no JSON that is deeper, and some
  /// clients read none.
  private static let maximumDepth = 1000

  /// Returns whether `text` is JSON; if not, what was appended is of no use.
  ///
  /// O(n), n bytes.
  static func append(_ text: UnsafeRawBufferPointer, to output: inout [UInt8]) -> Bool {
    var copy = CompactJSON(text: text)
    output.reserveCapacity(output.count + text.count)
    return copy.copy(&output)
  }

  private init(text: UnsafeRawBufferPointer) { self.text = text }

  private mutating func copy(_ output: inout [UInt8]) -> Bool {
    guard copyValue(&output) else { return false }
    while let bracket = open.last {
      guard let byte = nextToken() else { return false }
      output.append(byte)
      position += 1
      if byte == bracket {
        open.removeLast()
      } else if byte == UInt8(ascii: ",") {
        guard copyMember(of: bracket, &output) else { return false }
      } else {
        return false
      }
    }
    return nextToken() == nil
  }

  /// A value; of an object or an array that is not empty the first value, which may be one in its turn.
  private mutating func copyValue(_ output: inout [UInt8]) -> Bool {
    while true {
      guard let byte = nextToken() else { return false }
      let bracket: UInt8
      switch byte {
      case UInt8(ascii: "{"): bracket = UInt8(ascii: "}")
      case UInt8(ascii: "["): bracket = UInt8(ascii: "]")
      case UInt8(ascii: "\""): return copyString(&output)
      case UInt8(ascii: "t"): return copy("true", &output)
      case UInt8(ascii: "f"): return copy("false", &output)
      case UInt8(ascii: "n"): return copy("null", &output)
      default: return copyNumber(&output)
      }
      output.append(byte)
      position += 1
      if nextToken() == bracket {
        output.append(bracket)
        position += 1
        return true
      }
      open.append(bracket)
      guard open.count <= Self.maximumDepth, copyName(in: bracket, &output) else { return false }
    }
  }

  private mutating func copyMember(of bracket: UInt8, _ output: inout [UInt8]) -> Bool {
    copyName(in: bracket, &output) && copyValue(&output)
  }

  /// The name before a value, if it is in an object.
  private mutating func copyName(in bracket: UInt8, _ output: inout [UInt8]) -> Bool {
    guard bracket == UInt8(ascii: "}") else { return true }
    guard nextToken() == UInt8(ascii: "\""), copyString(&output), nextToken() == UInt8(ascii: ":")
    else { return false }
    output.append(UInt8(ascii: ":"))
    position += 1
    return true
  }

  /// The byte at which the next token begins; nil at the end.
  private mutating func nextToken() -> UInt8? {
    while position < text.count {
      switch text[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      case let byte: return byte
      }
    }
    return nil
  }

  private mutating func copy(_ word: StaticString, _ output: inout [UInt8]) -> Bool {
    word.withUTF8Buffer { word in
      guard text[position...].starts(with: word) else { return false }
      output.append(contentsOf: word)
      position += word.count
      return true
    }
  }
}

// Strings and numbers.
extension CompactJSON {
  /// RFC 8259 §7.
  private mutating func copyString(_ output: inout [UInt8]) -> Bool {
    var end = position + 1
    while end < text.count, text[end] != UInt8(ascii: "\"") {
      if text[end] < 0x20 { return false }
      if text[end] == UInt8(ascii: "\\") {
        end += 1
        guard end < text.count, isEscape(at: end) else { return false }
      }
      end += 1
    }
    guard end < text.count else { return false }
    output.append(contentsOf: text[position...end])
    position = end + 1
    return true
  }

  private func isEscape(at index: Int) -> Bool {
    switch text[index] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      true
    case UInt8(ascii: "u"):
      index + 4 < text.count && text[(index + 1)...(index + 4)].allSatisfy(\.isHexadecimal)
    default: false
    }
  }

  /// RFC 8259 §6.
  private mutating func copyNumber(_ output: inout [UInt8]) -> Bool {
    let start = position
    skip(UInt8(ascii: "-"))
    let isZero = position < text.count && text[position] == UInt8(ascii: "0")
    let digits = skipDigits()
    guard digits > 0, digits == 1 || !isZero else { return false }
    if skip(UInt8(ascii: ".")), skipDigits() == 0 { return false }
    if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
      if !skip(UInt8(ascii: "+")) { skip(UInt8(ascii: "-")) }
      if skipDigits() == 0 { return false }
    }
    output.append(contentsOf: text[start..<position])
    return true
  }

  @discardableResult
  private mutating func skip(_ byte: UInt8) -> Bool {
    guard position < text.count, text[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while position < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[position] {
      position += 1
    }
    return position - start
  }
}

extension UInt8 {
  fileprivate var isHexadecimal: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
