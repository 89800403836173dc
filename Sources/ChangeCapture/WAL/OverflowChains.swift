import Hashing
import OrderedResults

/// The overflow pages of one table: whose they are, and a digest of what is on them.
///
/// A row's overflow pages can change without a change on its leaf: an UPDATE that keeps the sizes
/// writes over the old bytes, so does incremental blob I/O, and auto-vacuum moves pages in the
/// middle of a chain (https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages).
///
/// Memory: some 60 bytes for each overflow page. A table with more than ``limit`` of them is not
/// followed row by row.
struct OverflowChains: Equatable {
  struct Chain: Equatable {
    var head: OverflowHead
    var pages: [UInt32]
    /// Of the payload's bytes alone, page by page, not of the links between the pages.
    var digest: UInt64
    /// Of a row without rowid.
    var key: [Value]
  }

  /// A million pages of 4 KiB are 4 GB of blobs: 60 MB here, and a second to read them all.
  static let limit = 1_000_000

  private(set) var chains: [Int64: Chain] = [:]
  private var owners: [UInt32: Int64] = [:]

  var isEmpty: Bool { chains.isEmpty }
  var pageCount: Int { owners.count }

  func owner(of page: UInt32) -> Int64? { owners.isEmpty ? nil : owners[page] }

  mutating func remove(_ rowid: Int64) {
    guard let chain = chains.removeValue(forKey: rowid) else { return }
    // A page may already belong to another row.
    for page in chain.pages where owners[page] == rowid { owners[page] = nil }
  }

  /// Reads a row's chain anew. O(p), p its pages.
  ///
  /// - returns: whether what is on it has changed.
  mutating func read(
    _ row: LeafReader.OverflowRow, digest: KeyedHash, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> Bool {
    let (rowid, head) = (row.rowid, row.head)
    let old = chains[rowid]?.digest
    remove(rowid)
    var chain = Chain(head: head, pages: [], digest: 0, key: row.key)
    var rest = head.size
    var page = head.firstPage
    while rest > 0 {
      let image = try snapshot.page(page)
      let length = min(rest, image.count - 4)
      chain.digest = try image.digest(4..<(4 + length), with: digest, after: chain.digest)
      chain.pages.append(page)
      // A chain that is longer than the file runs in a circle.
      guard chain.pages.count <= snapshot.pageCount else { throw .malformedPage }
      owners[page] = rowid
      rest -= length
      page = try image.integer32(0)
    }
    chains[rowid] = chain
    return chain.digest != old
  }
}
