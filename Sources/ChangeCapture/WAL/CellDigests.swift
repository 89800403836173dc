import OrderedResults

/// A digest of each row of one table, by leaf: what the rows were, to tell which have changed.
///
/// Of a table WITHOUT ROWID, whose interior pages have rows as well, these are among the leaves here.
///
/// Memory: 13 bytes a row of 65 bytes. A million of them load in some 30 ms.
final class CellDigests {
  let table: String
  /// nil: its rows have rowids.
  let key: TableKey?
  var leaves: [UInt32: LeafCells] = [:]
  var overflow = OverflowChains()
  /// There are more overflow pages than are worth following, or keys that reach onto such.
  private(set) var isTooLarge = false

  init(table: String, key: TableKey? = nil) {
    self.table = table
    self.key = key
  }

  /// Reads all rows. O(b), b the table's bytes.
  func load(
    leaves pages: [UInt32], reader: inout LeafReader, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    leaves.reserveCapacity(pages.count)
    var overflowRows: [LeafReader.OverflowRow] = []
    // Closures do not capture `inout` parameters.
    var current = reader
    try snapshot.forEachPage(pages) { image throws(CaptureDoubt) in
      try read(image, &current)
      guard !isTooLarge else { return }
      leaves[image.number] = current.leaf
      overflowRows += current.overflowRows
    }
    reader = current
    if isTooLarge { return }
    for row in overflowRows {
      _ = try overflow.read(row, digest: reader.digest, from: snapshot)
      guard checkSize() else { return }
    }
  }

  /// Reads a page of the table; gives up where a key does not lie on it.
  func read(_ image: PageImage, _ reader: inout LeafReader) throws(CaptureDoubt) {
    guard let key else { return try reader.read(image) }
    try reader.read(image, by: key)
    if reader.hasLongKey { giveUp() }
  }

  /// Gives up where there are too many overflow pages.
  func checkSize() -> Bool {
    if !isTooLarge, overflow.pageCount > OverflowChains.limit { giveUp() }
    return !isTooLarge
  }

  private func giveUp() {
    isTooLarge = true
    leaves = [:]
    overflow = OverflowChains()
  }
}
