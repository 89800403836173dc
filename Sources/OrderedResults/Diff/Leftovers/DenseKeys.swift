/// The keys of some records, integers that lie close together.
struct DenseKeys {
  let smallest: Int64
  /// How many integers there are from the smallest to the largest.
  let spread: Int
  private let first: Int64
  /// For each record how far its key is from that of the first: 4 bytes rather than 8.
  private let distances: [Int32]

  /// The keys of the records with these numbers.
  ///
  /// Nil if there are none, if a key is not one integer, or if there are more integers from
  /// the smallest to the largest key than `maximumSpread` for each record, or than `Int32.max`.
  ///
  /// O(m), m records; random keys show among the first of them.
  init?(
    _ numbers: [UInt32], of records: FlatRecords, _ identity: Identity, maximumSpread: Int
  ) {
    let limit = UInt64(min(numbers.count * maximumSpread, Int(Int32.max)))
    var (first, least, most) = (Int64(0), Int64.max, Int64.min)
    var isDense = !numbers.isEmpty
    distances = [Int32](capacity: numbers.count) { distances in
      for number in numbers {
        guard let key = identity.integer(records.bytes(number)) else { return isDense = false }
        if distances.isEmpty { first = key }
        least = min(least, key)
        most = max(most, key)
        distances.append(Int32(truncatingIfNeeded: key &- first))
        isDense = Self.distance(most, from: least) < limit
        if !isDense { return }
      }
    }
    guard isDense else { return nil }
    (self.first, smallest) = (first, least)
    spread = Int(most - least) + 1
  }

  var count: Int { distances.count }

  /// How far a key is from a smaller one.
  ///
  /// Where it is the smaller one itself, the distance wraps round to beyond that of `Int64.max`. No
  /// key is larger than that, so no spread reaches so far.
  @inline(__always)
  private static func distance(_ key: Int64, from smaller: Int64) -> UInt64 {
    UInt64(bitPattern: key &- smaller)
  }

  /// The place of any key: its distance from the smallest, at least the spread if it lies outside.
  @inline(__always)
  func place(of key: Int64) -> UInt64 { Self.distance(key, from: smallest) }

  /// The place of the key of the record at a position among these.
  @inline(__always)
  func place(at position: Int) -> Int { Int(distances[position]) &+ Int(first &- smallest) }
}
