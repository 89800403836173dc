/// Changed pages that are in no b-tree, and of which it is not known whose they are.
///
/// A page outside of the b-trees is free, or holds the overflow of some row. For followed tables
/// all overflow pages are known. For the others they are not, and a change in place, without a
/// change on the leaf, would go unnoticed; so such a page makes all of those tables suspect, unless
/// it is on the list of free pages, or a changed page of a b-tree points to it, which names its
/// table already.
struct UnclaimedPages {
  private var pages: Set<UInt32> = []

  /// How many pages of the list of free pages are read at most; each lists some 1000.
  private static let freeListLimit = 256

  var isEmpty: Bool { pages.isEmpty }

  mutating func insert(_ page: UInt32) { pages.insert(page) }

  mutating func remove(ownedBy digests: CellDigests) {
    guard !pages.isEmpty, !digests.overflow.isEmpty else { return }
    pages = pages.filter { digests.overflow.owner(of: $0) == nil }
  }

  mutating func removeAuxiliary(_ layout: FileHeader) {
    pages = pages.filter { !layout.isAuxiliary($0) }
  }

  /// Removes free pages (https://www.sqlite.org/fileformat2.html#the_freelist).
  mutating func removeFree(from snapshot: some DatabasePages) throws(CaptureDoubt) {
    var trunk = snapshot.layout.firstFreePage
    for _ in 0..<Self.freeListLimit {
      guard !pages.isEmpty, (1...snapshot.pageCount).contains(trunk) else { return }
      let image = try snapshot.page(trunk)
      pages.remove(trunk)
      let count = Int(try image.integer32(4))
      guard 8 + 4 * count <= image.count else { return }
      for index in 0..<count { pages.remove(try image.integer32(8 + 4 * index)) }
      trunk = try image.integer32(0)
    }
  }

  /// Removes the pages of chains that begin on a page of a b-tree.
  mutating func removeOverflow(of page: UInt32, from snapshot: some DatabasePages)
    throws(CaptureDoubt)
  {
    let heads = try BTreePage(try snapshot.page(page))
      .overflowHeads(usableSize: snapshot.layout.usableSize)
    for head in heads {
      var next = head.firstPage
      while pages.remove(next) != nil { next = try snapshot.page(next).integer32(0) }
    }
  }
}

extension ChangeReport {
  /// Reports the tables that changed pages may belong to of which nothing is known.
  mutating func claim(
    _ unclaimed: inout UnclaimedPages, _ changed: ChangedPages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    guard !unclaimed.isEmpty else { return }
    unclaimed.removeAuxiliary(snapshot.layout)
    try unclaimed.removeFree(from: snapshot)
    for page in changed where !unclaimed.isEmpty {
      guard page <= snapshot.pageCount, let role = map.pages.role(of: page) else { continue }
      let isKnown = role.isLeaf && map.completeDigests(role.tree) != nil
      if !isKnown { try unclaimed.removeOverflow(of: page, from: snapshot) }
    }
    guard !unclaimed.isEmpty else { return }
    for tree in map.schema.trees.indices where map.completeDigests(tree) == nil {
      addWhole(tree: tree, .overflow)
    }
  }
}
