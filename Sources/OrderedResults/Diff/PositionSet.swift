/// A set of small numbers with neighbours: a tree of bits, 64 to a word.
///
/// Every operation is O(log limit) with 64 as the base (four steps for 16 million numbers), and
/// the whole set takes little more than a bit a number, so that it stays in the cache.
struct PositionSet {
  /// All levels, one after the other: level 0 has a bit for each number, and each bit of another
  /// level tells whether a word of the level below has any.
  private var words: [UInt64]
  /// Where each level begins.
  private let starts: [Int]

  /// A set of numbers from 0 to below `limit`.
  init(limit: Int) {
    var starts: [Int] = []
    var total = 0
    // With room for `limit` itself, so that what lies before it is found by the common way.
    var count = limit + 1
    repeat {
      count = (count + 63) / 64
      starts.append(total)
      total += count
    } while count > 1
    self.starts = starts
    words = Array(repeating: 0, count: total)
  }

  mutating func insert(_ number: Int) {
    var number = number
    for start in starts {
      let word = start + (number >> 6)
      let old = words[word]
      words[word] = old | 1 << UInt64(number & 63)
      guard old == 0 else { return }
      number >>= 6
    }
  }

  mutating func remove(_ number: Int) {
    var number = number
    for start in starts {
      let word = start + (number >> 6)
      words[word] &= ~(1 << UInt64(number & 63))
      guard words[word] == 0 else { return }
      number >>= 6
    }
  }

  /// The largest number below `limit`, which is at most the set's.
  func last(before limit: Int) -> Int? {
    var position = limit
    for (level, start) in starts.enumerated() {
      let below = words[start + (position >> 6)] & ((1 << UInt64(position & 63)) &- 1)
      if below != 0 {
        var found = position & ~63 | (63 - below.leadingZeroBitCount)
        for start in starts[..<level].reversed() {
          found = found << 6 | (63 - words[start + found].leadingZeroBitCount)
        }
        return found
      }
      position >>= 6
    }
    return nil
  }

  /// The smallest number above `number`, which is at most the set's limit.
  func first(after number: Int) -> Int? {
    var position = number
    for (level, start) in starts.enumerated() {
      let above = words[start + (position >> 6)] & (~1 << UInt64(position & 63))
      if above != 0 {
        var found = position & ~63 | above.trailingZeroBitCount
        for start in starts[..<level].reversed() {
          found = found << 6 | words[start + found].trailingZeroBitCount
        }
        return found
      }
      position >>= 6
    }
    return nil
  }
}
