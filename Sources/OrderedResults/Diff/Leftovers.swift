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
}
