/// One column of a record, without a copy: text and blob are valid as long as the record's bytes.
@usableFromInline
package enum ColumnView {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)

  /// A copy that stands by itself.
  package var value: Value {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let bytes): .text(Array(bytes))
    case .blob(let bytes): .blob(Array(bytes))
    }
  }
}

extension Value {
  /// Hands over the value as a column, which is good during the call.
  @inlinable
  package func withView<R>(_ body: (ColumnView) throws -> R) rethrows -> R {
    switch self {
    case .null: try body(.null)
    case .integer(let integer): try body(.integer(integer))
    case .real(let real): try body(.real(real))
    case .text(let bytes): try bytes.withUnsafeBytes { try body(.text($0)) }
    case .blob(let bytes): try bytes.withUnsafeBytes { try body(.blob($0)) }
    }
  }
}

/// Walks the columns of a record from the first to the last, without allocation.
///
/// A column is a code, as a LEB128 number, and a payload:
///
/// | code | payload |
/// |---|---|
/// | 0 | none: NULL |
/// | 1, 2, 3, 4 | an integer in 1, 2, 4, 8 bytes, the least that hold it |
/// | 5 | a real in 8 bytes; never NaN, which SQLite has as NULL |
/// | 6 + 2·n | text of n bytes |
/// | 7 + 2·n | a blob of n bytes |
///
/// Numbers are in the machine's byte order: records are never stored or sent. The encoding is
/// canonical: equal values have equal bytes, so records are compared without being decoded.
@usableFromInline
package struct ColumnReader {
  /// The start of the next column.
  @usableFromInline var position: UnsafeRawPointer
  @usableFromInline let end: UnsafeRawPointer

  // Who makes a reader keeps the bytes alive as long as it.
  @inlinable
  init(_ bytes: BorrowedBytes) {
    position = bytes.start
    end = bytes.start + bytes.count
  }

  /// The next column; nil after the last one.
  ///
  /// O(1).
  @inlinable
  package mutating func next() -> ColumnView? {
    guard position < end else { return nil }
    let code = readCode()
    switch code {
    case 0: return .null
    case 1: return .integer(Int64(read(Int8.self)))
    case 2: return .integer(Int64(read(Int16.self)))
    case 3: return .integer(Int64(read(Int32.self)))
    case 4: return .integer(read(Int64.self))
    case 5: return .real(read(Double.self))
    default:
      let count = (code &- 6) >> 1
      let bytes = UnsafeRawBufferPointer(start: position, count: count)
      position += count
      return code & 1 == 0 ? .text(bytes) : .blob(bytes)
    }
  }

  /// Whether the next column, which must be there, is this integer.
  ///
  /// O(1).
  @inline(__always)
  mutating func nextIs(_ integer: Int64) -> Bool {
    switch readCode() {
    case 1: Int64(read(Int8.self)) == integer
    case 2: Int64(read(Int16.self)) == integer
    case 3: Int64(read(Int32.self)) == integer
    case 4: read(Int64.self) == integer
    default: false
    }
  }

  /// Passes over one column.
  ///
  /// O(1).
  @inlinable
  package mutating func skip() {
    let code = readCode()
    switch code {
    case 0: break
    case 1: position += 1
    case 2: position += 2
    case 3: position += 4
    case 4, 5: position += 8
    default: position += (code &- 6) >> 1
    }
  }

  /// Passes over `count` columns.
  ///
  /// O(count).
  @inlinable
  package mutating func skip(_ count: Int) {
    for _ in 0..<count { skip() }
  }

  /// Passes over some columns and returns their bytes.
  ///
  /// O(columns).
  @inline(__always)
  mutating func nextBytes(_ columns: Int = 1) -> BorrowedBytes {
    let start = position
    skip(columns)
    return BorrowedBytes(start: start, count: position - start)
  }

  /// The next column, which must be there, if it is an integer or the same as one.
  ///
  /// O(1); the reader does not advance.
  @inline(__always)
  func peekInteger() -> Int64? {
    if let integer = peekIntegerFast() { return integer }
    return position.load(as: UInt8.self) > 5 ? nil : peekNumber()
  }

  /// The next column, which must be there, if it is an integer and at least 9 bytes of the record
  /// are left, its own among them.
  ///
  /// O(1), without a jump that depends on the integer's size: keys of one table have several. The
  /// reader does not advance.
  @inline(__always)
  func peekIntegerFast() -> Int64? {
    let code = position.load(as: UInt8.self)
    let isLittleEndian = 1.littleEndian == 1
    guard 1...4 ~= code, end - position > 8, isLittleEndian else { return nil }
    // All 8 bytes lie in the record; those above the integer's own are shifted out.
    let word = position.loadUnaligned(fromByteOffset: 1, as: Int64.self)
    let surplus = 64 &- (Int64(8) &<< Int64(code &- 1))
    return (word &<< surplus) &>> surplus
  }

  @inline(never)
  private func peekNumber() -> Int64? {
    var columns = self
    switch columns.next() {
    case .integer(let integer): return integer
    case .real(let real): return Int64(exactly: real)
    default: return nil
    }
  }

  @inlinable
  mutating func readCode() -> Int {
    // One byte for numbers and for text of at most 60 bytes.
    let first = position.load(as: UInt8.self)
    position += 1
    if first < 0x80 { return Int(first) }
    return readLongCode(first)
  }

  @usableFromInline
  mutating func readLongCode(_ first: UInt8) -> Int {
    var code = Int(first & 0x7F)
    var shift = 7
    while true {
      let byte = position.load(as: UInt8.self)
      position += 1
      code |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return code }
      shift += 7
    }
  }

  @inlinable
  mutating func read<Number: BitwiseCopyable>(_: Number.Type) -> Number {
    defer { position += MemoryLayout<Number>.size }
    return position.loadUnaligned(as: Number.self)
  }
}

extension BorrowedBytes {
  /// Whether the column that these bytes are is a real.
  @inline(__always)
  var isReal: Bool { start.load(as: UInt8.self) == 5 }

  /// The value of the column that these bytes are.
  var value: Value {
    var columns = columns
    return columns.next()?.value ?? .null
  }

  /// The bytes of the column at a position.
  @inline(__always)
  func column(_ position: Int) -> BorrowedBytes {
    var columns = columns
    columns.skip(position)
    return columns.nextBytes()
  }
}
