/// Appends JSON (RFC 8259) to a buffer of bytes.
///
/// Hand-written because it is the hot path of every event and page; nothing here allocates but the
/// buffer itself, except to repair text that is not UTF-8.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  /// Whether a comma must stand before the next member or element.
  private var needsComma = false

  package init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Makes room for so many bytes, those that are there included.
  package mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

  // MARK: - Containers

  package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
    begin("{")
    try members(&self)
    end("}")
  }

  package mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
    begin("[")
    try elements(&self)
    end("]")
  }

  package mutating func object(
    _ name: StaticString, _ members: (inout JSONWriter) throws -> Void
  ) rethrows {
    self.name(name)
    try object(members)
  }

  package mutating func array(
    _ name: StaticString, _ elements: (inout JSONWriter) throws -> Void
  ) rethrows {
    self.name(name)
    try array(elements)
  }

  package mutating func begin(_ bracket: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  package mutating func end(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  // MARK: - Members

  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func name(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func member(_ name: StaticString, _ value: Int) {
    self.name(name)
    integer(Int64(value))
  }

  package mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: StaticString, _ value: String?) {
    self.name(name)
    if let value { string(value) } else { null() }
  }

  // MARK: - Values

  package mutating func null() { literal("null") }

  package mutating func boolean(_ value: Bool) { literal(value ? "true" : "false") }

  package mutating func integer(_ value: Int64) {
    separate()
    // Digits from the right; 20 are enough for any 64-bit integer.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value.magnitude
      var start = 20
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if value < 0 { bytes.append(UInt8(ascii: "-")) }
      // A slice would be copied byte by byte.
      bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start...]))
    }
    needsComma = true
  }

  /// The shortest text that reads back as the same number; JSON has none for NaN and infinities.
  package mutating func real(_ value: Double) {
    guard value.isFinite else { return null() }
    literal(value.description)
  }

  /// A number as it is to stand there.
  package mutating func number(_ digits: String) { literal(digits) }

  package mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { quote(UnsafeRawBufferPointer($0)) }
  }

  /// Text as SQLite gave it; what is not UTF-8 in it becomes U+FFFD.
  package mutating func string(utf8 text: UnsafeRawBufferPointer) {
    if text.isValidUTF8 { return quote(text) }
    string(String(decoding: text, as: UTF8.self))
  }

  /// A BLOB: `{"base64": "…"}`.
  package mutating func blob(_ blob: UnsafeRawBufferPointer) {
    object { json in
      json.name("base64")
      json.separate()
      json.bytes.append(UInt8(ascii: "\""))
      json.bytes.appendBase64(of: blob)
      json.bytes.append(UInt8(ascii: "\""))
      json.needsComma = true
    }
  }

  /// Text that may be JSON itself: then it stands there without the space between its tokens, and
  /// else as a string.
  ///
  /// O(n), n bytes.
  package mutating func json(utf8 text: UnsafeRawBufferPointer) {
    let (start, needed) = (bytes.count, needsComma)
    separate()
    if text.isValidUTF8, CompactJSON.append(text, to: &bytes) {
      needsComma = true
    } else {
      bytes.removeSubrange(start...)
      needsComma = needed
      string(utf8: text)
    }
  }

  /// The next value goes on with an array whose beginning was written elsewhere.
  package mutating func continueArray() { needsComma = true }

  /// Appends bytes that are not JSON: what stands around the JSON of an event.
  package mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    needsComma = false
  }

  // By another name, so that a literal is no String.
  package mutating func raw(text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
    needsComma = false
  }

  // MARK: - Parts

  private mutating func literal(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  /// RFC 8259 §7: the quotation mark, the reverse solidus and U+0000 to U+001F are escaped.
  private mutating func quote(_ text: UnsafeRawBufferPointer) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    while let index = text.firstToEscape(from: start) {
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<index]))
      escape(text[index])
      start = index + 1
    }
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start...]))
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
      bytes.append(contentsOf: String(byte, radix: 16).utf8)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The next byte that must be escaped. Most text has none: it is looked through eight bytes at a time.
  fileprivate func firstToEscape(from start: Int) -> Int? {
    var index = start
    while index &+ 8 <= count,
      !loadUnaligned(fromByteOffset: index, as: UInt64.self).hasByteToEscape
    {
      index &+= 8
    }
    // The last bytes as a word that overlaps those before.
    if start &+ 8 <= count, index &+ 8 > count,
      !loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self).hasByteToEscape
    {
      return nil
    }
    while index < count {
      if self[index].mustBeEscaped { return index }
      index &+= 1
    }
    return nil
  }
}

extension UInt64 {
  /// Whether one of eight bytes must be escaped, as ``UInt8/mustBeEscaped`` says.
  ///
  /// A byte is 0 where taking 1 away from it sets its highest bit, which was not set; and less than 32
  /// where taking 32 away does. (Bit Twiddling Hacks,
  /// https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord)
  fileprivate var hasByteToEscape: Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotation = self ^ ones &* UInt64(UInt8(ascii: "\""))
    let solidus = self ^ ones &* UInt64(UInt8(ascii: "\\"))
    let found =
      (self &- ones &* 0x20) & ~self | (quotation &- ones) & ~quotation
      | (solidus &- ones) & ~solidus
    // `&` binds as strongly as `&*`.
    return found & (ones &* 0x80) != 0
  }
}

extension UInt8 {
  fileprivate var mustBeEscaped: Bool {
    self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
}
