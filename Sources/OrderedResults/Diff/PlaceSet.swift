/// A set of small numbers: a bit for each.
struct PlaceSet {
  /// How many numbers there may be for each one in the set, to take no more than a ``HashSet``.
  static let maximumSpread = 64

  private var words: [UInt64]

  /// A set of numbers below `count`.
  init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

  /// Whether a number, which may be any, is in the set.
  // The last word may have bits for `count` and more: they are never set.
  func contains(_ place: UInt64) -> Bool {
    place < UInt64(words.count) << 6 && words[Int(place >> 6)] >> (place & 63) & 1 == 1
  }

  /// Adds a number below `count`; false: it was there.
  mutating func insert(_ place: Int) -> Bool {
    let bit = UInt64(1) << UInt64(place & 63)
    defer { words[place >> 6] |= bit }
    return words[place >> 6] & bit == 0
  }
}
