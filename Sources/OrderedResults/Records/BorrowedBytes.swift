/// The encoded bytes of a record, or of columns of one, that somebody else keeps alive.
///
/// All pointers to records are of this type, and it is good for one call: who passes it on keeps
/// the block or the buffer behind it until the call returns. What outlives a call is a ``Record``.
@usableFromInline
struct BorrowedBytes {
  /// The first byte.
  @usableFromInline let start: UnsafeRawPointer
  // 32 bits, so that arrays of these with a number beside it take 16 bytes an element.
  @usableFromInline let length: UInt32

  @inlinable
  init(start: UnsafeRawPointer, count: Int) {
    self.start = start
    length = UInt32(truncatingIfNeeded: count)
  }

  /// No bytes.
  // Nothing is read through the pointer.
  static var none: BorrowedBytes {
    BorrowedBytes(start: UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped, count: 0)
  }

  @inlinable var count: Int { Int(length) }

  /// The columns, from the first.
  @inlinable var columns: ColumnReader { ColumnReader(self) }

  /// First and last byte in one number; there is at least one byte.
  @inline(__always)
  var ends: UInt16 {
    UInt16(start.load(as: UInt8.self)) << 8
      | UInt16(start.load(fromByteOffset: count - 1, as: UInt8.self))
  }

  /// Whether the bytes are the same.
  ///
  /// O(b), b bytes, 32 at a step. The last bytes are read as one word that overlaps those before,
  /// so that no length needs a loop over single bytes.
  // Every load lies inside the first `count` bytes, which both sides have; none needs alignment.
  @inlinable
  func isEqual(to other: BorrowedBytes) -> Bool {
    guard length == other.length else { return false }
    if count < 8 { return isEqualShort(to: other) }
    var offset = 0
    while offset &+ 32 <= count {
      let difference =
        difference(other, at: offset) | difference(other, at: offset &+ 8)
        | difference(other, at: offset &+ 16) | difference(other, at: offset &+ 24)
      if difference != 0 { return false }
      offset &+= 32
    }
    while offset &+ 8 <= count {
      if difference(other, at: offset) != 0 { return false }
      offset &+= 8
    }
    return difference(other, at: count &- 8) == 0
  }

  @inlinable
  func isEqualShort(to other: BorrowedBytes) -> Bool {
    if count >= 4 {
      return start.loadUnaligned(as: UInt32.self) == other.start.loadUnaligned(as: UInt32.self)
        && start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
          == other.start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
    }
    for offset in 0..<count {
      if start.load(fromByteOffset: offset, as: UInt8.self)
        != other.start.load(fromByteOffset: offset, as: UInt8.self)
      {
        return false
      }
    }
    return true
  }

  /// The bits in which 8 bytes differ.
  @inlinable
  func difference(_ other: BorrowedBytes, at offset: Int) -> UInt64 {
    start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      ^ other.start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
