/// How many entries of one b-tree are on and below each of its pages: its outline, by which an
/// entry is found by its offset.
///
/// The entries of a table are the cells of its leaves. Those of an index are the cells of all of
/// its pages: between two children of an interior page stands the cell that divides them
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages). The number of cells is in the header of
/// each page, so what is on the pages is not looked at.
///
/// Memory: 4 bytes a page, and the lists of children, 4 bytes a page too, that ``BTreePages`` has
/// as well and shares. An index of ten million rows has some 63 000 pages.
struct EntryCounts {
  struct Node: Equatable {
    /// In the order of the b-tree, like those of ``BTreePages``.
    var children: [UInt32]
    /// By child: the entries on it and below it.
    var counts: [UInt32]
    /// The entries on the page itself and below it.
    var total: UInt32 = 0
  }

  private(set) var tree: BTreePages.Tree
  let root: UInt32
  let isTable: Bool
  /// By interior page. Page 0 stands above the root, which then may be a leaf like any other.
  var nodes: [UInt32: Node]

  /// The number of all entries. O(1).
  var total: Int { Int(nodes[0]?.total ?? 0) }

  /// By page: the entries on it and below it. O(p).
  var counts: [UInt32: UInt32] {
    var counts: [UInt32: UInt32] = [:]
    for node in nodes.values {
      for (child, count) in zip(node.children, node.counts) { counts[child] = count }
    }
    return counts
  }

  /// Counts the entries of a b-tree. O(p), p its pages; the leaves are read whose counts are not
  /// `known`.
  init(
    of tree: BTreePages.Tree, root: UInt32, in pages: BTreePages, known: [UInt32: UInt32] = [:],
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    self.tree = tree
    self.root = root
    isTable = pages.isTable[tree]
    nodes = [0: Node(children: [root], counts: [0])]
    var leafCounts = known
    let kind: BTreePage.Kind = isTable ? .leafTable : .leafIndex
    let unknown = pages.leaves(of: tree, root: root).filter { known[$0] == nil }
    try snapshot.forEachPage(unknown) { image throws(CaptureDoubt) in
      leafCounts[image.number] = try Self.count(image, kind)
    }
    for page in try Self.interiorPages(below: root, in: pages).reversed() {
      guard let node = pages.interior[page] else { throw .malformedPage }
      var counts: [UInt32] = []
      counts.reserveCapacity(node.children.count)
      for child in node.children {
        guard let count = node.height == 1 ? leafCounts[child] : nodes[child]?.total else {
          throw .malformedPage
        }
        counts.append(count)
      }
      nodes[page] = Node(children: node.children, counts: counts)
      try sum(page)
    }
    guard let count = nodes[root]?.total ?? leafCounts[root] else { throw .malformedPage }
    nodes[0]?.counts = [count]
    try sum(0)
  }

  /// The same in a map that was made anew; nil: a page of the b-tree has changed.
  ///
  /// O(c + p), c the changed pages, p those of the b-tree, most of which take a nanosecond.
  func moved(
    to tree: BTreePages.Tree, root: UInt32, in pages: BTreePages, changed: ChangedPages
  ) -> EntryCounts? {
    guard root == self.root, pages.isTable[tree] == isTable,
      !changed.contains(where: { pages.role(of: $0)?.tree == tree })
    else { return nil }
    var copy = self
    copy.tree = tree
    var (count, isSame) = (1, true)
    pages.forEachInterior(below: root) { page, node in
      guard isSame, nodes[page]?.children == node.children else { return isSame = false }
      // To be shared again.
      copy.nodes[page]?.children = node.children
      count += 1
    }
    return isSame && count == nodes.count ? copy : nil
  }

  /// The interior pages of a b-tree, each before its children.
  private static func interiorPages(
    below root: UInt32, in pages: BTreePages
  ) throws(CaptureDoubt) -> [UInt32] {
    var result = pages.interior[root] == nil ? [] : [root]
    var next = 0
    while next < result.count {
      if let node = pages.interior[result[next]], node.height > 1 { result += node.children }
      // Some page is a child of several.
      guard result.count < pages.parents.count else { throw .malformedPage }
      next += 1
    }
    return result
  }

  /// The number of cells on a leaf.
  static func count(
    _ image: PageImage, _ kind: BTreePage.Kind
  ) throws(CaptureDoubt) -> UInt32 {
    let page = try BTreePage(image)
    guard page.kind == kind else { throw .malformedPage }
    return UInt32(page.cellCount)
  }

  /// Adds up the entries of a page. O(c), c its children.
  mutating func sum(_ page: UInt32) throws(CaptureDoubt) {
    guard let node = nodes[page] else { throw .malformedPage }
    var total = isTable ? 0 : node.children.count - 1
    for count in node.counts { total += Int(count) }
    guard let total = UInt32(exactly: total) else { throw .malformedPage }
    nodes[page]?.total = total
  }
}
