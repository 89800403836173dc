import OrderedResults

/// The keys of owners that are rows of a table WITHOUT ROWID, by their numbers: what their records are
/// read again by.
///
/// Memory: 16 bytes an owner, over the load of a hash table, and the bytes of its key.
struct OwnerKeys {
  private var starts: [Int64: Int] = [:]
  private var bytes: [UInt8] = []

  var count: Int { starts.count }
  var size: Int { bytes.count + 24 * starts.count }

  subscript(number: Int64) -> [Value]? {
    guard var offset = starts[number] else { return nil }
    return (0..<next(&offset)).map { _ in value(&offset) }
  }

  /// Enters a key where none of its number is there.
  mutating func insert(_ key: [Value], _ number: Int64) {
    guard !key.isEmpty, starts[number] == nil else { return }
    starts[number] = bytes.count
    append(key.count)
    for value in key { append(value) }
  }

  // MARK: - Bytes

  private mutating func append(_ value: Value) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let integer): append(1, UInt64(bitPattern: integer))
    case .real(let real): append(2, real.bitPattern)
    case .text(let text): append(3, text)
    case .blob(let blob): append(4, blob)
    }
  }

  private mutating func append(_ kind: UInt8, _ word: UInt64) {
    bytes.append(kind)
    withUnsafeBytes(of: word) { bytes += $0 }
  }

  private mutating func append(_ kind: UInt8, _ content: [UInt8]) {
    bytes.append(kind)
    append(content.count)
    bytes += content
  }

  /// A number in groups of seven bits.
  private mutating func append(_ count: Int) {
    var rest = count
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private func next(_ offset: inout Int) -> Int {
    var (number, shift) = (0, 0)
    while bytes[offset] > 0x7f {
      number |= Int(bytes[offset] & 0x7f) << shift
      shift += 7
      offset += 1
    }
    number |= Int(bytes[offset]) << shift
    offset += 1
    return number
  }

  private func value(_ offset: inout Int) -> Value {
    let kind = bytes[offset]
    offset += 1
    switch kind {
    case 0: return .null
    case 1, 2:
      let word = bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      }
      offset += 8
      return kind == 1 ? .integer(Int64(bitPattern: word)) : .real(Double(bitPattern: word))
    default:
      let count = next(&offset)
      defer { offset += count }
      let content = Array(bytes[offset..<offset + count])
      return kind == 3 ? .text(content) : .blob(content)
    }
  }
}
