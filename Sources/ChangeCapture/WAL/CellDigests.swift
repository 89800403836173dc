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
  /// Rows of pages that were read whose overflow pages were not, and what the page was then.
  private var unreadChains:
    ArraySlice<(row: LeafReader.OverflowRow, page: UInt32, digest: UInt64)> =
      []

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
  var isComplete: Bool { unread.isEmpty && unreadChains.isEmpty }

  /// Whether it is not known what is on a page of the table.
  func lacks(_ page: UInt32) -> Bool { !unread.isEmpty && leaves[page] == nil }

  /// Reads some of the pages whose turn has not come, and the overflow pages of their rows.
  ///
  /// O(p), p as many pages as are asked for, and those of one row more.
  ///
  /// - Returns: how many were read.
  func read(
    atMost limit: Int, in pages: BTreePages, of tree: BTreePages.Tree, reader: inout LeafReader,
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> Int {
    var count = 0
    while !isComplete, count < limit {
      if let (row, page, digest) = unreadChains.popFirst() {
        // Of a page that was written since, the rows were read then.
        guard leaves[page]?.pageDigest == digest else { continue }
        let before = overflow.pageCount
        _ = try overflow.read(row, digest: reader.digest, from: snapshot)
        count += Swift.max(1, overflow.pageCount - before)
        _ = checkSize()
        continue
      }
      let run = unread.prefix(Swift.min(Self.pagesInRun, limit - count))
      unread = unread.dropFirst(run.count)
      let due = run.filter { leaves[$0] == nil && pages.hasRows($0, of: tree) }
      try read(due, reader: &reader, from: snapshot)
      count += run.count
    }
    return count
  }

  private func read(
    _ pages: [UInt32], reader: inout LeafReader, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    // Closures do not capture `inout` parameters.
    var current = reader
    try snapshot.forEachPage(pages) { image throws(CaptureDoubt) in
      try read(image, &current)
      guard !isTooLarge else { return }
      leaves[image.number] = current.leaf
      for row in current.overflowRows {
        unreadChains.append((row, image.number, current.pageDigest))
      }
    }
    reader = current
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
    (unread, unreadChains) = ([], [])
    leaves = [:]
    overflow = OverflowChains()
  }
}
