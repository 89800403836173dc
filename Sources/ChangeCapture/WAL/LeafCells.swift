/// One row as it lies on a leaf: its rowid and a digest of its cell.
struct CellDigest: Comparable {
  var rowid: Int64
  var digest: UInt64

  static func < (a: Self, b: Self) -> Bool { (a.rowid, a.digest) < (b.rowid, b.digest) }
}

/// The rows of one leaf of a table, in the order of their rowids.
///
/// 12 bytes a row where the rowids lie within 2^32, which is nearly always, and 16 else; 64 bytes
/// for each leaf besides.
struct LeafCells: RandomAccessCollection, Equatable {
  /// The digest of the whole page, to see without parsing that a page is as it was.
  let pageDigest: UInt64
  let count: Int
  private let base: Int64
  private let isWide: Bool
  /// For each row: the distance of its rowid from `base` (one word, or two from the low one up),
  /// and its digest's low and high half.
  private let words: [UInt32]

  init(_ cells: some RandomAccessCollection<CellDigest>, pageDigest: UInt64) {
    self.pageDigest = pageDigest
    count = cells.count
    base = cells.first?.rowid ?? 0
    let span = cells.last.map { UInt64(bitPattern: $0.rowid &- cells[cells.startIndex].rowid) } ?? 0
    isWide = span > UInt64(UInt32.max)
    var words: [UInt32] = []
    words.reserveCapacity(count * (isWide ? 4 : 3))
    for cell in cells {
      let distance = UInt64(bitPattern: cell.rowid &- base)
      words.append(UInt32(truncatingIfNeeded: distance))
      if isWide { words.append(UInt32(truncatingIfNeeded: distance >> 32)) }
      words.append(UInt32(truncatingIfNeeded: cell.digest))
      words.append(UInt32(truncatingIfNeeded: cell.digest >> 32))
    }
    self.words = words
  }

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  @inline(__always)
  subscript(index: Int) -> CellDigest {
    let stride = isWide ? 4 : 3
    let start = index * stride
    let end = start + stride
    var distance = UInt64(words[start])
    if isWide { distance |= UInt64(words[start + 1]) << 32 }
    return CellDigest(
      rowid: base &+ Int64(bitPattern: distance),
      digest: UInt64(words[end - 2]) | UInt64(words[end - 1]) << 32)
  }
}
