/// Text that is not JSON.
struct NotJSON: Error, CustomStringConvertible {
  let description: String
}

extension JSONValue {
  /// Reads JSON strictly (RFC 8259), and refuses an object that names a member twice.
  init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

  init(parsing bytes: [UInt8]) throws {
    var parser = JSONParser(bytes: bytes)
    self = try parser.document()
  }
}

private struct JSONParser {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws -> JSONValue {
    let value = try value()
    skipSpace()
    guard position == bytes.count else { throw failure("something after the value") }
    return value
  }

  private func failure(_ what: String) -> NotJSON {
    let place = String(decoding: bytes[..<position].suffix(40), as: UTF8.self)
    return NotJSON(description: "\(what) at byte \(position), after \(place)")
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { position += 1 }
  }

  private mutating func accept(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    return skip(character)
  }

  private mutating func expect(_ character: Unicode.Scalar) throws {
    guard accept(character) else { throw failure("no \(character)") }
  }

  private mutating func value() throws -> JSONValue {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    default: break
    }
    for (word, value) in [("null", JSONValue.null), ("true", .bool(true)), ("false", .bool(false))]
    where bytes[position...].starts(with: word.utf8) {
      position += word.utf8.count
      return value
    }
    return .number(try number())
  }

  private mutating func object() throws -> JSONValue {
    try expect("{")
    var members: [(name: String, value: JSONValue)] = []
    if accept("}") { return .object(members) }
    var names: Set<String> = []
    repeat {
      skipSpace()
      let name = try string()
      guard names.insert(name).inserted else { throw failure("a second \(name)") }
      try expect(":")
      members.append((name, try value()))
    } while accept(",")
    try expect("}")
    return .object(members)
  }

  private mutating func array() throws -> JSONValue {
    try expect("[")
    if accept("]") { return .array([]) }
    var elements: [JSONValue] = []
    repeat { elements.append(try value()) } while accept(",")
    try expect("]")
    return .array(elements)
  }

  /// RFC 8259 §6. Read byte by byte: most of what tests parse is numbers, and a regular expression took a
  /// third of their time.
  private mutating func number() throws -> String {
    let start = position
    skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("+") { skip("-") }
      try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws {
    guard isDigit(next) else { throw failure("no value") }
    while isDigit(next) { position += 1 }
  }

  private func isDigit(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    return UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9")
  }

  /// Goes on where the next byte is this character.
  @discardableResult
  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func string() throws -> String {
    guard next == UInt8(ascii: "\"") else { throw failure("no string") }
    position += 1
    var content: [UInt8] = []
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw failure("a control character") }
      position += 1
      if byte == UInt8(ascii: "\\") {
        content += String(try escape()).utf8
      } else {
        content.append(byte)
      }
    }
    guard next != nil else { throw failure("an open string") }
    position += 1
    guard let text = String(validating: content, as: UTF8.self) else { throw failure("no UTF-8") }
    return text
  }

  private mutating func escape() throws -> Unicode.Scalar {
    guard let letter = next else { throw failure("an open escape") }
    position += 1
    let plain: [UInt8: Unicode.Scalar] = [
      0x22: "\"", 0x5C: "\\", 0x2F: "/", 0x62: "\u{8}", 0x66: "\u{C}", 0x6E: "\n", 0x72: "\r",
      0x74: "\t",
    ]
    if let scalar = plain[letter] { return scalar }
    guard letter == UInt8(ascii: "u") else { throw failure("an unknown escape") }
    let unit = try hexDigits()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard bytes[position...].starts(with: "\\u".utf8) else { throw failure("half a pair") }
    position += 2
    let low = try hexDigits()
    let value = 0x10000 + (UInt32(unit) - 0xD800) * 0x400 + UInt32(low) &- 0xDC00
    guard let scalar = Unicode.Scalar(value) else { throw failure("no pair") }
    return scalar
  }

  private mutating func hexDigits() throws -> UInt16 {
    let text = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
    guard text.count == 4, let unit = UInt16(text, radix: 16) else { throw failure("no \\u") }
    position += 4
    return unit
  }
}
