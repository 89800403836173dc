/// Keeping the map up to date from the pages that a span of commits has written.
///
/// A page is written when its content changes. So an unchanged interior page still has the same
/// children, and what changed about the shape of a b-tree is found by reading its changed interior
/// pages, as long as they still are in it. They are visited from the root downwards, because a page
/// that was freed or reused still looks like what it was; its image is only believed once a parent
/// that is itself in place lists it.
///
/// Visiting compares the new list of children with the old one. New children are linked to the page
/// that lists them, wherever they were before; old ones that nobody has adopted are orphans. At the
/// end orphans are removed with all that is still linked below them: a freed page is often not
/// written, so its children can only be found by its old list.
///
/// The journal keeps what each page was before its links changed.
extension BTreePages {
  /// Reads the changed interior pages and roots. O(c · h) reads, c their number, h the height.
  mutating func update(
    changed: ChangedPages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    let missing = Int(snapshot.pageCount) + 1 - parents.count
    if missing > 0 { parents.append(contentsOf: repeatElement(0, count: missing)) }
    var waiting: [UInt32] = []
    for page in changed {
      if roots[page] != nil || interior[page] != nil { waiting.append(page) }
    }
    // Linking an unchanged page puts changed ones below it back in place: until nothing moves.
    while !waiting.isEmpty {
      let count = visited.count
      for page in waiting { try settle(page, changed: changed, from: snapshot) }
      if visited.count == count { break }
      waiting.removeAll { visited.contains($0) }
    }
    removeOrphans()
  }

  /// Forgets what the pages were before the update. O(1) where no links changed.
  mutating func finishUpdate() {
    if !journal.isEmpty { journal.removeAll(keepingCapacity: true) }
    if !orphans.isEmpty { orphans.removeAll(keepingCapacity: true) }
    if !visited.isEmpty { visited.removeAll(keepingCapacity: true) }
  }

  /// What a page was before the update.
  func oldRole(of page: UInt32) -> Role? {
    if let old = journal[page] { return old }
    return role(of: page)
  }

  /// Visits the changed pages on the way from the root to a page, and the page itself.
  private mutating func settle(
    _ page: UInt32, changed: ChangedPages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    var path = [page]
    while let last = path.last, Int(last) < parents.count, parents[Int(last)] != 0 {
      path.append(parents[Int(last)])
      guard path.count <= Self.maxHeight else { throw .malformedPage }
    }
    for node in path.reversed() {
      // An orphan now; a page that adopts it will visit it.
      guard roots[node] != nil || parents[Int(node)] != 0 else { return }
      if changed.contains(node), !visited.contains(node) {
        try visit(node, changed: changed, from: snapshot)
      }
    }
  }

  /// Reads a page that is in place, and links its children.
  mutating func visit(
    _ page: UInt32, changed: ChangedPages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    visited.insert(page)
    if let tree = roots[page] {
      return try visitRoot(page, of: tree, changed: changed, from: snapshot)
    }
    guard let parent = interior[parents[Int(page)]] else { throw .malformedPage }
    if parent.height == 1 { return becomeLeaf(page) }
    let read = try BTreePage(try snapshot.page(page))
    guard !read.kind.isLeaf, read.kind.isTable == isTable[parent.tree] else {
      throw .malformedPage
    }
    let node = Interior(
      tree: parent.tree, height: parent.height - 1, children: try read.children())
    try become(node, page, changed: changed, from: snapshot)
  }

  private mutating func visitRoot(
    _ page: UInt32, of tree: Tree, changed: ChangedPages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    let read = try BTreePage(try snapshot.page(page))
    isTable[tree] = read.kind.isTable
    if read.kind.isLeaf { return becomeLeaf(page) }
    let children = try read.children()
    // The next read overwrites the image.
    var height = 1
    var below = try BTreePage(try snapshot.page(children[0]))
    while !below.kind.isLeaf {
      height += 1
      guard height <= Self.maxHeight else { throw .malformedPage }
      below = try BTreePage(try snapshot.page(try below.firstChild()))
    }
    let node = Interior(tree: tree, height: height, children: children)
    try become(node, page, changed: changed, from: snapshot)
  }

  private mutating func becomeLeaf(_ page: UInt32) {
    guard let old = interior[page] else { return }
    for child in old.children { unlink(child, from: page) }
    note(page)
    interior[page] = nil
  }

  private mutating func become(
    _ node: Interior, _ page: UInt32, changed: ChangedPages, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    let old = interior[page]
    var (common, commonEnd) = (0, 0)
    if let old, old.tree == node.tree, old.height == node.height {
      (common, commonEnd) = Self.commonEnds(old.children, node.children)
    }
    if let old {
      let kept = Set(node.children[common..<(node.children.count - commonEnd)])
      for child in old.children[common..<(old.children.count - commonEnd)]
      where !kept.contains(child) || old.tree != node.tree || old.height != node.height {
        unlink(child, from: page)
      }
    } else {
      note(page)
    }
    interior[page] = node
    for child in node.children[common..<(node.children.count - commonEnd)] {
      try link(child, to: page, node, changed: changed, from: snapshot)
    }
  }

  /// How many elements two lists have in common at the beginning and at the end.
  static func commonEnds(_ a: [UInt32], _ b: [UInt32]) -> (Int, Int) {
    let limit = min(a.count, b.count)
    var start = 0
    while start < limit, a[start] == b[start] { start += 1 }
    var end = 0
    while end < limit - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
    return (start, end)
  }

  private mutating func link(
    _ child: UInt32, to page: UInt32, _ parent: Interior, changed: ChangedPages,
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    guard child >= 2, child <= snapshot.pageCount, Int(child) < parents.count, roots[child] == nil
    else { throw .malformedPage }
    if parents[Int(child)] == page, !changed.contains(child) { return }
    note(child)
    parents[Int(child)] = page
    if parent.height == 1 { return becomeLeaf(child) }
    if let node = interior[child], node.tree == parent.tree, node.height == parent.height - 1,
      !changed.contains(child) || visited.contains(child)
    {
      return
    }
    guard !visited.contains(child) else { throw .malformedPage }
    try visit(child, changed: changed, from: snapshot)
  }

  private mutating func unlink(_ child: UInt32, from page: UInt32) {
    guard Int(child) < parents.count, parents[Int(child)] == page else { return }
    note(child)
    parents[Int(child)] = 0
    orphans.append(child)
  }

  private mutating func removeOrphans() {
    while let page = orphans.popLast() {
      guard parents[Int(page)] == 0, let node = interior[page] else { continue }
      for child in node.children { unlink(child, from: page) }
      interior[page] = nil
    }
  }

  /// Keeps what a page is, before its links change for the first time.
  private mutating func note(_ page: UInt32) {
    guard !isNew, journal[page] == nil else { return }
    journal.updateValue(role(of: page), forKey: page)
  }
}
