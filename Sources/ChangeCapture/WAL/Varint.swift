/// Variable-length integers of one to nine bytes: https://www.sqlite.org/fileformat2.html#varint
enum Varint {
  /// Reads one whose bytes `byte` gives, and moves `offset` behind it.
  @inline(__always)
  static func read(
    _ offset: inout Int, byte: (Int) throws(CaptureDoubt) -> UInt8
  ) throws(CaptureDoubt) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<8 {
      let next = try byte(offset)
      offset += 1
      value = value << 7 | UInt64(next & 0x7f)
      if next < 0x80 { return value }
    }
    // The ninth byte gives all its eight bits.
    let last = try byte(offset)
    offset += 1
    return value << 8 | UInt64(last)
  }
}
