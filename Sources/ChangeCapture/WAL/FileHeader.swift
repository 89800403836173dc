/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html#the_database_header).
struct FileHeader: Equatable {
  static let size = 100

  let pageSize: Int
  /// The bytes of each page that b-trees may use.
  let usableSize: Int
  /// The first page of the list of free pages; 0: there is none.
  let firstFreePage: UInt32
  let schemaCookie: UInt32
  let hasPointerMap: Bool
  /// The 16 bytes that SQLite itself compares to see whether a file without a log has changed: the
  /// change counter, the size and the free pages.
  let version: SIMD4<UInt32>

  /// Reads a header from an image of page 1, or of its first 100 bytes.
  init(_ image: PageImage) throws(CaptureDoubt) {
    for (offset, byte) in "SQLite format 3\0".utf8.enumerated() {
      guard try image.byte(offset) == byte else { throw .unknownFormat }
    }
    let size = try image.integer16(16)
    pageSize = size == 1 ? 65_536 : size
    usableSize = pageSize - Int(try image.byte(20))
    // https://www.sqlite.org/fileformat2.html#page_size: a power of two; at least 480 bytes usable.
    guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1, usableSize >= 480
    else { throw .unknownFormat }
    firstFreePage = try image.integer32(32)
    schemaCookie = try image.integer32(40)
    hasPointerMap = try image.integer32(52) != 0
    version = SIMD4(
      try image.integer32(24), try image.integer32(28), firstFreePage, try image.integer32(36))
  }

  /// Whether another header describes pages of the same kind.
  func hasSameLayout(as other: FileHeader) -> Bool {
    pageSize == other.pageSize && usableSize == other.usableSize
      && hasPointerMap == other.hasPointerMap
  }

  /// Whether a page can be no b-tree's, whatever is in it: it maps the pages of an auto-vacuum
  /// database, or lies where SQLite takes its locks
  /// (https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages, #the_lock_byte_page).
  func isAuxiliary(_ page: UInt32) -> Bool {
    let lockPage = UInt32(0x4000_0000 / pageSize + 1)
    if page == lockPage { return true }
    guard hasPointerMap, page >= 2 else { return false }
    let span = UInt32(usableSize / 5 + 1)
    let map = (page - 2) / span * span + 2
    return page == (map == lockPage ? map + 1 : map)
  }
}
