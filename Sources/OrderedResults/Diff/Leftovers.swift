/// Records of one result that were not paired as the rows came.
struct Leftovers {
  struct Leftover {
    // Good as long as the results, which whoever makes leftovers holds.
    let bytes: BorrowedBytes
    let offset: UInt32
  }

  private(set) var records: [Leftover] = []

  /// O(m), m records; none of them is read.
  init(_ ranges: some Sequence<Range<Int>>, of list: RecordList) {
    records.reserveCapacity(ranges.totalCount)
    var cursor = RecordCursor(list)
    for range in ranges {
      cursor.seek(range.lowerBound)
      for offset in range {
        records.append(Leftover(bytes: cursor.bytes, offset: UInt32(offset)))
        cursor.advance()
      }
    }
  }

  var count: Int { records.count }

  /// For each a hash of what identifies it.
  ///
  /// O(m · b), m records of b bytes to the end of the key.
  func hashes(_ identity: Identity, _ hasher: ByteHasher) -> [UInt64] {
    records.map { identity.hash($0.bytes, hasher) }
  }

  /// The same with these hashes.
  func hashed(_ identity: Identity, _ hasher: ByteHasher) -> HashedLeftovers {
    HashedLeftovers(leftovers: self, hashes: hashes(identity, hasher))
  }
}

/// Leftovers, and for each a hash of what identifies it.
struct HashedLeftovers {
  let leftovers: Leftovers
  let hashes: [UInt64]
}
