import OrderedResults

/// A digest of each row of one table, by leaf: what the rows were, to tell which have changed.
///
/// Of a table WITHOUT ROWID, whose interior pages have rows as well, these are among the leaves here.
///
/// Memory: 13 bytes a row of 65 bytes. To read a million of them takes some 40 ms, longer than a commit
/// may wait; so they may be read a few pages at a time. Of a page that is written before its turn, what
/// was on it is read where the log or the file still has it (``FormerPages``).
final class CellDigests {
  let table: String
  /// nil: its rows have rowids.
  let key: TableKey?
  var leaves: [UInt32: LeafCells] = [:]
  var overflow = OverflowChains()
  /// There are more overflow pages than are worth following, or keys that reach onto such.
  private(set) var isTooLarge = false
  /// Pages whose turn has not come, in the order of their numbers. Some may have left the table, or
  /// been read because they changed.
  private(set) var unread: ArraySlice<UInt32>

  /// So many neighbours are read from the file at once.
  private static let pagesInRun = 64

  /// Knows no row yet.
  ///
  /// - Parameters:
  ///   - table: its name.
  ///   - key: what its rows are told apart by; nil: their rowids.
  ///   - pages: those with its rows, in the order of their numbers.
  init(table: String, key: TableKey? = nil, pages: [UInt32]) {
    self.table = table
    self.key = key
    unread = pages[...]
    leaves.reserveCapacity(pages.count)
  }

  /// Whether all of the table's pages have been read.
  var isComplete: Bool { unread.isEmpty }

  /// Whether it is not known what is on a page of the table.
  func lacks(_ page: UInt32) -> Bool { !unread.isEmpty && leaves[page] == nil }

  /// Reads some of the pages whose turn has not come, with the overflow pages of their rows.
  ///
  /// O(p), p as many pages as are asked for, and the overflow pages of a run of them.
  ///
  /// - Returns: how many were read.
  func read(
    atMost limit: Int, in pages: BTreePages, of tree: BTreePages.Tree, reader: inout LeafReader,
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> Int {
    var count = 0
    while !unread.isEmpty, count < limit {
      let run = unread.prefix(Swift.min(Self.pagesInRun, limit - count))
      unread = unread.dropFirst(run.count)
      let overflowPages = overflow.pageCount
      let due = run.filter { leaves[$0] == nil && pages.hasRows($0, of: tree) }
      try read(due, reader: &reader, from: snapshot)
      count += run.count + overflow.pageCount - overflowPages
    }
    return count
  }

  private func read(
    _ pages: [UInt32], reader: inout LeafReader, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
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
    for row in overflowRows where !isTooLarge {
      _ = try overflow.read(row, digest: reader.digest, from: snapshot)
      _ = checkSize()
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
    unread = []
    leaves = [:]
    overflow = OverflowChains()
  }
}
