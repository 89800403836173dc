/// Encodes rows, one after the other, into one reusable buffer: `begin`, one `append` for each
/// column, and then ``ResultsBuilder/append(_:)`` or ``makeRecord()``.
///
/// An append is a bounds check and one or two stores; nothing is allocated once the buffer is as
/// large as the largest row. The form is described at ``ColumnReader``.
// The buffer belongs to the encoder, which cannot be copied; every store was reserved.
package struct RecordEncoder: ~Copyable {
  @usableFromInline var buffer: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  /// Bytes of the row so far.
  @usableFromInline var count = 0
  /// Columns of the row so far.
  @usableFromInline var columns = 0

  package init() {
    capacity = 1024
    buffer = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// Starts a new row.
  @inlinable
  package mutating func begin() {
    count = 0
    columns = 0
  }

  @inlinable
  package mutating func appendNull() {
    reserve(1)
    store(0 as UInt8)
    columns &+= 1
  }

  @inlinable
  package mutating func append(_ integer: Int64) {
    reserve(9)
    if let small = Int8(exactly: integer) {
      store(1 as UInt8)
      store(small)
    } else if let small = Int16(exactly: integer) {
      store(2 as UInt8)
      store(small)
    } else if let small = Int32(exactly: integer) {
      store(3 as UInt8)
      store(small)
    } else {
      store(4 as UInt8)
      store(integer)
    }
    columns &+= 1
  }

  /// Appends a real; NaN is NULL, as in SQLite.
  @inlinable
  package mutating func append(_ real: Double) {
    guard !real.isNaN else { return appendNull() }
    reserve(9)
    store(5 as UInt8)
    store(real)
    columns &+= 1
  }

  /// Appends text as its bytes, which need not be UTF-8.
  @inlinable
  package mutating func append(text: UnsafeRawBufferPointer) {
    append(text, code: 6)
  }

  @inlinable
  package mutating func append(blob: UnsafeRawBufferPointer) {
    append(blob, code: 7)
  }

  /// Appends any value.
  ///
  /// The typed calls are cheaper.
  package mutating func append(_ value: Value) {
    switch value {
    case .null: appendNull()
    case .integer(let integer): append(integer)
    case .real(let real): append(real)
    case .text(let bytes): bytes.withUnsafeBytes { append(text: $0) }
    case .blob(let bytes): bytes.withUnsafeBytes { append(blob: $0) }
    }
  }

  /// How many bytes the row takes so far.
  @inlinable package var byteCount: Int { count }

  /// The row so far.
  // Good until the encoder is used again or freed.
  @inlinable var bytes: BorrowedBytes { BorrowedBytes(start: buffer, count: count) }

  /// A record of the row, in a block of its own.
  ///
  /// O(b), b bytes, one allocation.
  package borrowing func makeRecord() -> Record {
    withUnsafePointer(to: UInt32(count)) { end in
      RecordBlock(copying: buffer, ends: UnsafeBufferPointer(start: end, count: 1)).record(0)
    }
  }

  @inlinable
  mutating func append(_ bytes: UnsafeRawBufferPointer, code kind: Int) {
    // A LEB128 number of 10 bytes holds every Int.
    reserve(bytes.count &+ 10)
    var code = bytes.count << 1 &+ kind
    while code >= 0x80 {
      store(UInt8(truncatingIfNeeded: code) | 0x80)
      code >>= 7
    }
    store(UInt8(truncatingIfNeeded: code))
    if let start = bytes.baseAddress {
      (buffer + count).copyMemory(from: start, byteCount: bytes.count)
      count &+= bytes.count
    }
    columns &+= 1
  }

  @inlinable
  @inline(__always)
  mutating func store<Number: BitwiseCopyable>(_ number: Number) {
    buffer.storeBytes(of: number, toByteOffset: count, as: Number.self)
    count &+= MemoryLayout<Number>.size
  }

  @inlinable
  @inline(__always)
  mutating func reserve(_ bytes: Int) {
    if capacity &- count < bytes { grow(bytes) }
  }

  @usableFromInline
  @inline(never)
  mutating func grow(_ bytes: Int) {
    let needed = count + bytes
    // Records count their bytes in 32 bits. A value of SQLite has at most 2 GiB, and a row that is
    // stored too; only a row put together of several such values could be larger.
    precondition(needed <= UInt32.max, "a row of \(needed) bytes, more than 4 GiB")
    capacity = max(needed, min(capacity * 2, Int(UInt32.max)))
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    larger.copyMemory(from: buffer, byteCount: count)
    buffer.deallocate()
    buffer = larger
  }
}
