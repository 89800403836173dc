/// The keys of leftovers, integers that lie close together.
struct DenseKeys {
  let smallest: Int64
  /// How many integers there are from the smallest to the largest.
  let spread: Int
  private let first: Int64
  /// For each leftover how far its key is from that of the first: 4 bytes rather than 8.
  private let distances: [Int32]

  /// Nil if there are no leftovers, if a key is not one integer, or if there are more integers from
  /// the smallest to the largest key than `maximumSpread` for each leftover, or than `Int32.max`.
  ///
  /// O(m), m leftovers; a random key among the first few mostly ends it.
  init?(_ leftovers: Leftovers, _ identity: Identity, maximumSpread: Int) {
    guard let first = leftovers.records.first, let first = identity.integer(first.bytes) else {
      return nil
    }
    let limit = min(leftovers.count * maximumSpread, Int(Int32.max))
    var distances: [Int32] = []
    distances.reserveCapacity(leftovers.count)
    var (least, most) = (0, 0)
    for leftover in leftovers.records {
      guard let key = identity.integer(leftover.bytes) else { return nil }
      let (distance, overflows) = key.subtractingReportingOverflow(first)
      guard !overflows, distance.magnitude < limit else { return nil }
      least = min(least, Int(distance))
      most = max(most, Int(distance))
      distances.append(Int32(truncatingIfNeeded: distance))
    }
    guard most - least < limit else { return nil }
    (self.first, self.distances) = (first, distances)
    (smallest, spread) = (first + Int64(least), most - least + 1)
  }

  /// How far any key is from the smallest: at least the spread if it lies outside.
  ///
  /// A key below the smallest wraps round, to a place beyond that of `Int64.max`. No key is larger
  /// than that, so the spread ends before.
  @inline(__always)
  static func place(of key: Int64, from smallest: Int64) -> UInt64 {
    UInt64(bitPattern: key &- smallest)
  }

  /// How far the key of a leftover is from the smallest.
  @inline(__always)
  func place(_ number: Int) -> Int {
    Int(distances[number]) &+ Int(first &- smallest)
  }
}
