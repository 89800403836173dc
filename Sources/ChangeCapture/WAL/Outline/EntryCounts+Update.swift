/// Keeping the counts up to date from the pages that a span of commits has written.
extension EntryCounts {
  /// The counts of the children that a node and what it was before do not have in common.
  private struct Gap {
    var page: UInt32
    var range: Range<Int>
  }

  /// Counts the changed leaves, and takes over how the interior pages have changed.
  ///
  /// Between `update` and `finishUpdate` of the pages. O(c · (h + k)), c the changed pages, h the
  /// b-tree's height, k the children of an interior page; a leaf that is as it was is not read.
  mutating func update(
    changed: ChangedPages, in pages: BTreePages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    guard pages.isTable[tree] == isTable else { throw .malformedPage }
    var stale: [Set<UInt32>] = []
    func mark(_ page: UInt32) {
      let height = pages.height(of: page == 0 ? root : page) + (page == 0 ? 1 : 0)
      while stale.count <= height { stale.append([]) }
      stale[height].insert(page)
    }
    for page in try takeShape(changed: changed, pages, from: snapshot) { mark(page) }
    let kind: BTreePage.Kind = isTable ? .leafTable : .leafIndex
    for page in changed {
      guard let role = pages.role(of: page), role.tree == tree, role.isLeaf else { continue }
      mark(try set(try Self.count(try snapshot.page(page), kind), of: page, in: pages))
    }
    var height = 1
    while height < stale.count {
      for page in stale[height] {
        try sum(page)
        guard page != 0, let total = nodes[page]?.total else { continue }
        mark(try set(total, of: page, in: pages))
      }
      height += 1
    }
  }

  /// Enters how many entries a page has, in the node above.
  ///
  /// - returns: the node.
  private mutating func set(
    _ count: UInt32, of page: UInt32, in pages: BTreePages
  ) throws(CaptureDoubt) -> UInt32 {
    let parent = page == root ? 0 : pages.parents[Int(page)]
    guard let index = nodes[parent]?.children.firstIndex(of: page) else { throw .malformedPage }
    nodes[parent]?.counts[index] = count
    return parent
  }

  /// Takes the interior pages over that were read anew, and forgets those that left the b-tree.
  ///
  /// Leaves keep the counts that they had, wherever they went.
  ///
  /// - returns: the nodes that are to be added up.
  private mutating func takeShape(
    changed: ChangedPages, _ pages: BTreePages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) -> [UInt32] {
    guard !pages.journal.isEmpty || !pages.visited.isEmpty else { return [] }
    var gaps: [Gap] = []
    var moved: [UInt32: UInt32] = [:]
    for page in pages.visited.union(pages.journal.keys) {
      let old = nodes[page]
      guard let node = pages.interior[page], node.tree == tree else {
        if let old {
          for (child, count) in zip(old.children, old.counts) { moved[child] = count }
          nodes[page] = nil
        }
        continue
      }
      gaps.append(takeOver(node.children, page, old, &moved))
    }
    for gap in gaps { try fill(gap, moved, changed: changed, pages, from: snapshot) }
    return gaps.map(\.page)
  }

  private mutating func takeOver(
    _ children: [UInt32], _ page: UInt32, _ old: Node?, _ moved: inout [UInt32: UInt32]
  ) -> Gap {
    var counts = Array(repeating: UInt32(0), count: children.count)
    var (start, end) = (0, 0)
    if let old {
      (start, end) = BTreePages.commonEnds(old.children, children)
      counts.replaceSubrange(..<start, with: old.counts[..<start])
      counts.replaceSubrange((counts.count - end)..., with: old.counts[(old.counts.count - end)...])
      for index in start..<(old.children.count - end) {
        moved[old.children[index]] = old.counts[index]
      }
    }
    nodes[page] = Node(children: children, counts: counts)
    return Gap(page: page, range: start..<(children.count - end))
  }

  /// Finds out the counts of the children that are new to a node.
  private mutating func fill(
    _ gap: Gap, _ moved: [UInt32: UInt32], changed: ChangedPages, _ pages: BTreePages,
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    let isAboveLeaves = pages.interior[gap.page]?.height == 1
    for index in gap.range {
      guard let child = nodes[gap.page]?.children[index] else { throw .malformedPage }
      if isAboveLeaves {
        // Changed leaves are read anyway.
        if changed.contains(child) { continue }
        nodes[gap.page]?.counts[index] =
          if let count = moved[child] { count } else {
            try Self.count(try snapshot.page(child), isTable ? .leafTable : .leafIndex)
          }
      } else {
        guard let below = nodes[child] else { throw .malformedPage }
        // If that is stale, it is added up before this.
        nodes[gap.page]?.counts[index] = below.total
      }
    }
  }
}
