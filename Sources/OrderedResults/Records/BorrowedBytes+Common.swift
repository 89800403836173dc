import Foundation

// What two runs of bytes have in common at an end.
extension BorrowedBytes {
  /// So many bytes are compared at a time; those of the first step that differs, eight at a time.
  private static let step = 256

  /// How many of the first bytes are the same. O(b), b bytes.
  // Every load lies inside the first `most` bytes, which both sides have.
  func commonStart(with other: BorrowedBytes) -> Int {
    let most = min(count, other.count)
    var length = 0
    while length &+ Self.step <= most,
      memcmp(start + length, other.start + length, Self.step) == 0
    {
      length &+= Self.step
    }
    while length &+ 8 <= most, difference(other, at: length) == 0 { length &+= 8 }
    while length < most, self[length] == other[length] { length &+= 1 }
    return length
  }

  /// How many of the last bytes are the same. O(b), b bytes.
  // Every load lies inside the last `most` bytes, which both sides have.
  func commonEnd(with other: BorrowedBytes) -> Int {
    let most = min(count, other.count)
    let (end, otherEnd) = (start + count, other.start + other.count)
    var length = 0
    while length &+ Self.step <= most,
      memcmp(end - length - Self.step, otherEnd - length - Self.step, Self.step) == 0
    {
      length &+= Self.step
    }
    while length &+ 8 <= most,
      Self.word(before: end - length) == Self.word(before: otherEnd - length)
    {
      length &+= 8
    }
    while length < most, self[count &- length &- 1] == other[other.count &- length &- 1] {
      length &+= 1
    }
    return length
  }

  private static func word(before end: UnsafeRawPointer) -> UInt64 {
    (end - 8).loadUnaligned(as: UInt64.self)
  }

  private subscript(offset: Int) -> UInt8 { start.load(fromByteOffset: offset, as: UInt8.self) }
}
