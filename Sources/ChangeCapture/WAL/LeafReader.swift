import Hashing
import OrderedResults

/// Takes leaves of tables apart into rows; its memory serves one page after the other.
///
/// Of a table WITHOUT ROWID a row's number (``TableKey``) stands in the place of its rowid.
struct LeafReader {
  /// A row with a part of its payload on overflow pages.
  struct OverflowRow {
    var rowid: Int64
    var head: OverflowHead
    /// Of a row without rowid.
    var key: [Value] = []
  }

  let digest: KeyedHash
  /// The rows of the page read last, in the order of their rowids.
  private(set) var cells: ContiguousArray<CellDigest> = []
  /// Those of its rows that overflow.
  private(set) var overflowRows: [OverflowRow] = []
  private(set) var pageDigest: UInt64 = 0
  /// Where the records are on the page, in the order of their numbers; for tables WITHOUT ROWID.
  private(set) var records: ContiguousArray<(number: Int64, range: Range<Int>)> = []
  /// Whether the page has a key that reaches onto overflow pages.
  private(set) var hasLongKey = false

  init(digest: KeyedHash) { self.digest = digest }

  /// Reads a leaf of a table: O(b), b the bytes of the page.
  ///
  /// A cell's digest covers what lies on the leaf except for the number of the first overflow page:
  /// auto-vacuum moves those pages, and what is on them has a digest of its own (OverflowChains).
  mutating func read(_ image: PageImage) throws(CaptureDoubt) {
    let page = try begin(image)
    guard page.kind == .leafTable else { throw .malformedPage }
    let layout = PayloadLayout(usableSize: image.count, isTable: true)
    // Cells do not overlap, so all of them together are no longer than the page: a bound for
    // garbage that lists one long cell many times.
    var room = image.count
    var last = Int64.min
    for index in 0..<page.cellCount {
      let start = try page.offset(ofCell: index)
      var offset = start
      let size = try image.varint(&offset)
      let rowid = Int64(bitPattern: try image.varint(&offset))
      let local = try layout.local(size)
      let end = offset + local
      room -= end - start
      guard room >= 0, rowid > last || index == 0 else { throw .malformedPage }
      last = rowid
      cells.append(CellDigest(rowid: rowid, digest: try image.digest(start..<end, with: digest)))
      guard local < Int(size) else { continue }
      let head = OverflowHead(firstPage: try image.integer32(end), size: Int(size) - local)
      overflowRows.append(OverflowRow(rowid: rowid, head: head))
    }
  }

  mutating func begin(_ image: PageImage) throws(CaptureDoubt) -> BTreePage {
    cells.removeAll(keepingCapacity: true)
    if !overflowRows.isEmpty { overflowRows.removeAll(keepingCapacity: true) }
    if !records.isEmpty { records.removeAll(keepingCapacity: true) }
    hasLongKey = false
    pageDigest = try image.digest(0..<image.count, with: digest)
    return try BTreePage(image)
  }

  mutating func add(_ cell: CellDigest, record: Range<Int>) {
    cells.append(cell)
    records.append((cell.rowid, record))
  }

  mutating func add(_ row: OverflowRow) { overflowRows.append(row) }

  mutating func sortByNumber() {
    cells.sort()
    records.sort { $0.number < $1.number }
  }

  mutating func reportLongKey() { hasLongKey = true }

  /// The digest of a page of any kind.
  func pageDigest(of image: PageImage) throws(CaptureDoubt) -> UInt64 {
    try image.digest(0..<image.count, with: digest)
  }

  var leaf: LeafCells { LeafCells(cells, pageDigest: pageDigest) }
}
