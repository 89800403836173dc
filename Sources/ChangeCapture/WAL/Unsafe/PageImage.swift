import Hashing

/// The bytes of one page, in the buffer that it was read into.
///
/// Any process may have written them, so every access is checked against the page's end and throws
/// where it would pass it: garbage ends a look, never the process.
///
/// An image is valid until its snapshot reads the next page, and never outlives the call that got it.
struct PageImage {
  let number: UInt32
  /// The bytes that b-trees may use: the page size less the reserved bytes at its end.
  let count: Int
  // Points into the snapshot's buffer, which holds at least `count` bytes from here on and lives as
  // long as the snapshot.
  private let base: UnsafeRawPointer

  init(number: UInt32, bytes: UnsafeRawBufferPointer) {
    self.number = number
    count = bytes.count
    // An empty buffer has no address; with `count` 0 this one is never read.
    base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
  }

  @inline(__always)
  private func load<T: FixedWidthInteger>(_ offset: Int, as type: T.Type) throws(CaptureDoubt) -> T
  {
    guard offset >= 0, offset <= count - MemoryLayout<T>.size else { throw .malformedPage }
    // In bounds by the line before; file formats know no alignment.
    return T(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: type))
  }

  @inline(__always)
  func byte(_ offset: Int) throws(CaptureDoubt) -> UInt8 { try load(offset, as: UInt8.self) }

  @inline(__always)
  func integer16(_ offset: Int) throws(CaptureDoubt) -> Int {
    Int(try load(offset, as: UInt16.self))
  }

  @inline(__always)
  func integer32(_ offset: Int) throws(CaptureDoubt) -> UInt32 {
    try load(offset, as: UInt32.self)
  }

  /// Reads a variable-length integer and moves `offset` behind it
  /// (https://www.sqlite.org/fileformat2.html#varint).
  @inline(__always)
  func varint(_ offset: inout Int) throws(CaptureDoubt) -> UInt64 {
    let first = try byte(offset)
    guard first < 0x80 else { return try longVarint(&offset) }
    offset += 1
    return UInt64(first)
  }

  private func longVarint(_ offset: inout Int) throws(CaptureDoubt) -> UInt64 {
    try Varint.read(&offset) { index throws(CaptureDoubt) in try byte(index) }
  }

  /// The digest of a part of the page, and of what came before it.
  @inline(__always)
  func digest(
    _ range: Range<Int>, with digest: KeyedHash, after before: UInt64 = 0
  ) throws(CaptureDoubt) -> UInt64 {
    guard range.lowerBound >= 0, range.upperBound <= count else { throw .malformedPage }
    // In bounds by the line before.
    return digest.digest(base + range.lowerBound, count: range.count, after: before)
  }

  /// Hands over a part of the page, which is good during the call.
  func withBytes<R>(
    _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(CaptureDoubt) -> R {
    guard range.lowerBound >= 0, range.upperBound <= count else { throw .malformedPage }
    // In bounds by the line before.
    return body(UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
  }

  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard other.count == count else { return false }
    // `base` holds `count` bytes.
    return UnsafeRawBufferPointer(start: base, count: count).elementsEqual(other)
  }
}
