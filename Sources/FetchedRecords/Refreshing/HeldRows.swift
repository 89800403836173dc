import HeldMemory

/// Under which argument each row is held by a member of a group, so that a row that changed leads to
/// whoever had it before.
///
/// Says too much rather than too little: what is named need not hold the row any more.
///
/// Memory: 12 bytes a row, over the load of a hash table.
struct HeldRows {
  /// The number of an argument.
  typealias Number = UInt32

  /// Members with several arguments may hold the row.
  static let several = Number.max

  private var numbers: [Int64: Number] = [:]
  /// About how many rows were left that may still be entered.
  private var left = 0
  private let charge = MemoryCharge()

  /// About the bytes of a row, with what the table leaves free.
  private static let bytesPerRow = 20

  /// Notes that a member with an argument holds some rows. O(r), r rows.
  mutating func enter(_ rowIDs: some Sequence<Int64>, under number: Number) {
    for rowID in rowIDs {
      let known = numbers.updateValue(number, forKey: rowID)
      if let known, known != number { numbers[rowID] = Self.several }
    }
    charge.set(numbers.count * Self.bytesPerRow)
  }

  /// Notes that a member left that had entered about so many rows.
  mutating func noteLeft(_ count: Int) { left += count }

  /// Whether most of what is entered may be of members that left.
  var isMostlyLeft: Bool { left > numbers.count / 2 + 1024 }

  /// Forgets who held a row, and returns the argument; nil: nobody did. O(1).
  mutating func take(_ rowID: Int64) -> Number? { numbers.removeValue(forKey: rowID) }
}
