import OrderedResults

/// The values at the beginning of a record: https://www.sqlite.org/fileformat2.html#record_format
struct RecordKey {
  /// Where a value is, and of which type.
  private struct Field {
    var type: UInt64
    var range: Range<Int>
  }

  private let image: PageImage
  private var fields: [Field] = []

  /// Finds the first `count` values of a record of which `range` is on the page; nil where one of them is
  /// not there, or not as a whole.
  init?(_ image: PageImage, _ range: Range<Int>, count: Int) throws(CaptureDoubt) {
    self.image = image
    var offset = range.lowerBound
    guard let headerSize = Int(exactly: try image.varint(&offset)) else { throw .malformedPage }
    guard headerSize <= range.count else { return nil }
    let header = range.lowerBound + headerSize
    var start = header
    for _ in 0..<count {
      guard offset < header else { throw .malformedPage }
      let type = try image.varint(&offset)
      guard type < UInt64(Int32.max) else { throw .malformedPage }
      let end = start + Self.size(ofType: Int(type))
      guard end <= range.upperBound else { return nil }
      fields.append(Field(type: type, range: start..<end))
      start = end
    }
  }

  private static func size(ofType type: Int) -> Int {
    switch type {
    case 0, 8, 9, 10, 11: 0
    case 1...4: type
    case 5: 6
    case 6, 7: 8
    default: (type - 12) / 2
    }
  }

  /// Hands over the values, which are good during the call.
  private func forEach(_ body: (ColumnView) -> Void) throws(CaptureDoubt) {
    for field in fields {
      try image.withBytes(field.range) { bytes in body(Self.view(of: bytes, field.type)) }
    }
  }

  private static func view(of bytes: UnsafeRawBufferPointer, _ type: UInt64) -> ColumnView {
    switch type {
    case 0, 10, 11: return .null
    case 8, 9: return .integer(Int64(type) - 8)
    case 12...: return type % 2 == 0 ? .blob(bytes) : .text(bytes)
    default:
      let sign: UInt64 = bytes[0] & 0x80 == 0 ? 0 : .max
      let bits = bytes.reduce(sign) { $0 << 8 | UInt64($1) }
      return type == 7 ? .real(Double(bitPattern: bits)) : .integer(Int64(bitPattern: bits))
    }
  }

  /// O(b), b the bytes of the values.
  func number(by key: TableKey) throws(CaptureDoubt) -> Int64 {
    var number = TableKey.NumberOfKey()
    var column = 0
    try forEach { value in
      number.add(value, key.collations[column])
      column += 1
    }
    return number.value
  }

  func values() throws(CaptureDoubt) -> [Value] {
    var values: [Value] = []
    try forEach { values.append($0.value) }
    return values
  }
}
