import JSON
import OrderedResults

/// The keys of rows of a table WITHOUT ROWID, by their numbers: what they are read again by.
///
/// Memory: 16 to 24 bytes a row, and the bytes of its key: 2 to 10 a number.
struct RowKeys {
  private var starts = NumberMap()
  private var bytes: [UInt8] = []

  var count: Int { starts.count }
  var size: Int { bytes.capacity + starts.size }

  subscript(number: Int64) -> [Value]? {
    guard let start = starts[number] else { return nil }
    var offset = Int(start)
    return (0..<next(&offset)).map { _ in value(&offset) }
  }

  /// Enters a key where none of its number is there.
  mutating func insert(_ key: [Value], _ number: Int64) {
    guard !key.isEmpty, starts[number] == nil else { return }
    starts[number] = Int64(bytes.count)
    append(UInt64(key.count))
    for value in key { append(value) }
  }

  /// Gives back what is free. O(n).
  mutating func trim() {
    starts.trim()
    // A copy takes no more than it has.
    bytes = bytes.map(\.self)
  }

  // MARK: - JSON

  /// Whether SQLite makes the same of the JSON of a key: of no BLOB, of no text that is not UTF-8 or has a
  /// NUL, and of no number with a fraction, which it does not read to the last bit.
  static func haveJSON(_ key: [Value]) -> Bool {
    key.allSatisfy { value in
      switch value {
      case .null, .blob: false
      case .integer: true
      case .real(let real): Int64(exactly: real) != nil
      case .text(let text):
        text.withUnsafeBytes { $0.isValidUTF8 && !$0.contains(0) }
      }
    }
  }

  /// The keys of some rows as SQLite's `json_each` takes them, each an array where it has several columns.
  ///
  /// O(b), b the bytes of these keys.
  func json(of numbers: [Int64]) -> Value {
    var json = JSONWriter()
    json.array { json in
      for key in numbers.lazy.compactMap({ self[$0] }) {
        if key.count == 1 {
          json.append(key[0])
        } else {
          json.array { for value in key { $0.append(value) } }
        }
      }
    }
    return .text(json.bytes)
  }

  // MARK: - Bytes

  private mutating func append(_ value: Value) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let integer):
      bytes.append(1)
      // The sign comes last, so that those near 0 are short.
      append(UInt64(bitPattern: integer << 1 ^ integer >> 63))
    case .real(let real):
      bytes.append(2)
      withUnsafeBytes(of: real.bitPattern) { bytes += $0 }
    case .text(let text): append(3, text)
    case .blob(let blob): append(4, blob)
    }
  }

  private mutating func append(_ kind: UInt8, _ content: [UInt8]) {
    bytes.append(kind)
    append(UInt64(content.count))
    bytes += content
  }

  /// A number in groups of seven bits.
  private mutating func append(_ number: UInt64) {
    var rest = number
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private func next(_ offset: inout Int) -> UInt64 {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while bytes[offset] > 0x7f {
      number |= UInt64(bytes[offset] & 0x7f) << shift
      shift += 7
      offset += 1
    }
    number |= UInt64(bytes[offset]) << shift
    offset += 1
    return number
  }

  private func value(_ offset: inout Int) -> Value {
    let kind = bytes[offset]
    offset += 1
    switch kind {
    case 0: return .null
    case 1:
      let number = next(&offset)
      return .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    case 2:
      let word = bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      }
      offset += 8
      return .real(Double(bitPattern: word))
    default:
      let count = Int(next(&offset))
      defer { offset += count }
      let content = Array(bytes[offset..<offset + count])
      return kind == 3 ? .text(content) : .blob(content)
    }
  }
}

extension JSONWriter {
  /// A value that has JSON.
  fileprivate mutating func append(_ value: Value) {
    switch value {
    case .null, .blob: null()
    case .integer(let integer): self.integer(integer)
    case .real(let real): integer(Int64(real))
    case .text(let text): text.withUnsafeBytes { string(utf8: $0) }
    }
  }
}
