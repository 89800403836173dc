/// Reads JSON (RFC 8259) as strictly as who decides by it has to.
///
/// Refused beside what is not JSON: two members of one name, whose meaning depends on the reader
/// (RFC 7515 §4, RFC 7519 §4); U+0000 and halves of surrogate pairs, which SQLite and Swift have no
/// text for; numbers beyond a double; values in more than 32 others. Foundation's readers keep one of
/// two members without a word, and do not tell 7 from 7.0.
///
/// O(n), and 32 frames of stack at most.
struct JSONReader {
  /// Objects and arrays in each other; more is refused.
  ///
  /// 32: claims have three or four, and a reader without a bound is how 10 000 brackets end a
  /// process.
  static let maximumDepth = 32

  let bytes: [UInt8]
  var index = 0
  private var depth = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a whole text.
  static func value(_ bytes: [UInt8]) throws(JSONProblem) -> ClaimValue {
    // All at once: the parts between quotation marks are UTF-8 where the whole is (RFC 8259 §8.1).
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw JSONProblem(message: "it is not UTF-8", offset: 0)
    }
    var reader = JSONReader(bytes)
    reader.skipBlanks()
    let value = try reader.value()
    reader.skipBlanks()
    guard reader.index == bytes.count else { throw reader.problem("there is more after the value") }
    return value
  }

  /// Reads a whole text that must be an object.
  static func object(_ bytes: [UInt8]) throws(JSONProblem) -> Claims {
    guard case .object(let object) = try value(bytes) else {
      throw JSONProblem(message: "it is not an object", offset: 0)
    }
    return object
  }

  func problem(_ message: String) -> JSONProblem { JSONProblem(message: message, offset: index) }

  /// The byte that comes next, or 0 at the end; 0 begins nothing in JSON.
  var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  mutating func skipBlanks() {
    while next == 0x20 || next == 0x09 || next == 0x0A || next == 0x0D { index += 1 }
  }

  // MARK: - Values

  private mutating func value() throws(JSONProblem) -> ClaimValue {
    switch next {
    case UInt8(ascii: "{"):
      return .object(try nested { reader throws(JSONProblem) in try reader.members() })
    case UInt8(ascii: "["):
      return .array(try nested { reader throws(JSONProblem) in try reader.elements() })
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .boolean(true))
    case UInt8(ascii: "f"): return try literal("false", .boolean(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw problem("a value is missing")
    }
  }

  private mutating func nested<T>(
    _ read: (inout JSONReader) throws(JSONProblem) -> T
  ) throws(JSONProblem) -> T {
    guard depth < Self.maximumDepth else { throw problem("it is nested too deeply") }
    depth += 1
    index += 1
    let value = try read(&self)
    depth -= 1
    return value
  }

  private mutating func elements() throws(JSONProblem) -> [ClaimValue] {
    var elements: [ClaimValue] = []
    skipBlanks()
    if take("]") { return elements }
    repeat {
      skipBlanks()
      elements.append(try value())
      skipBlanks()
    } while take(",")
    guard take("]") else { throw problem("the array does not end") }
    return elements
  }

  private mutating func members() throws(JSONProblem) -> Claims {
    var members: [Claims.Member] = []
    var names = DistinctNames()
    skipBlanks()
    if take("}") { return Claims(distinct: members) }
    repeat {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw problem("a name is missing") }
      let name = try string()
      guard names.insert(name, after: members) else {
        throw problem("two members have the name \(name.quoted)")
      }
      skipBlanks()
      guard take(":") else { throw problem("a colon is missing") }
      skipBlanks()
      members.append(Claims.Member(name: name, value: try value()))
      skipBlanks()
    } while take(",")
    guard take("}") else { throw problem("the object does not end") }
    return Claims(distinct: members)
  }

  private mutating func literal(
    _ text: StaticString, _ value: ClaimValue
  ) throws(JSONProblem) -> ClaimValue {
    let end = index + text.utf8CodeUnitCount
    guard end <= bytes.count,
      text.withUTF8Buffer({ bytes[index..<end].elementsEqual($0) })
    else { throw problem("a value is missing") }
    index = end
    return value
  }
}
