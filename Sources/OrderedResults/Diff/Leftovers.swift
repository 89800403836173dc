/// Records of one result that were not paired as the rows came, with what hashing needs.
struct Leftovers {
  struct Leftover {
    // Good as long as the results, which whoever makes leftovers holds.
    let bytes: BorrowedBytes
    let offset: UInt32
  }

  private(set) var records: [Leftover] = []
  /// For each a hash of what identifies it.
  var hashes: [UInt64] = []

  /// O(m · b), m records of b bytes to the end of the key.
  init(_ ranges: [Range<Int>], of list: RecordList, _ identity: Identity, _ hasher: ByteHasher) {
    let count = ranges.reduce(0) { $0 + $1.count }
    records.reserveCapacity(count)
    hashes.reserveCapacity(count)
    var cursor = RecordCursor(list)
    for range in ranges {
      cursor.seek(range.lowerBound)
      for offset in range {
        records.append(Leftover(bytes: cursor.bytes, offset: UInt32(offset)))
        hashes.append(identity.hash(cursor.bytes, hasher))
        cursor.advance()
      }
    }
  }

  var count: Int { records.count }
}
