package import GRDB

/// How many entries are on the leaves of a b-tree, as far as that is read before its outline is asked
/// for.
///
/// To read all leaves of a large one takes longer than a commit may wait; so some are read at a time,
/// and those that a commit writes in between are left to the end.
///
/// Memory: some 40 bytes a leaf, until the outline is made.
struct CountsAhead {
  /// By page.
  private(set) var counts: [UInt32: UInt32] = [:]
  private var waiting: ArraySlice<UInt32>

  var isComplete: Bool { waiting.isEmpty }
  var pagesLeft: Int { waiting.count }

  /// O(p log p), p the leaves.
  init(of tree: BTreePages.Tree, root: UInt32, in pages: BTreePages) {
    waiting = pages.leaves(of: tree, root: root)[...]
    counts.reserveCapacity(waiting.count)
  }

  /// Reads some of the leaves that are left.
  mutating func read(
    atMost limit: Int, of tree: BTreePages.Tree, in pages: BTreePages,
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    let next = waiting.prefix(limit)
    waiting = waiting.dropFirst(limit)
    let leaf = BTreePages.Role(tree: tree, isLeaf: true)
    let kind: BTreePage.Kind = pages.isTable[tree] ? .leafTable : .leafIndex
    var counts = counts
    self.counts = [:]
    // Some may have left the b-tree.
    try snapshot.forEachPage(next.filter { pages.role(of: $0) == leaf }) {
      image throws(CaptureDoubt) in
      counts[image.number] = try EntryCounts.count(image, kind)
    }
    self.counts = counts
  }

  /// What is on these pages is another now.
  mutating func forget(_ changed: ChangedPages) {
    for page in changed { counts[page] = nil }
  }
}

extension ChangeReader {
  /// Reads some leaves of a b-tree whose outline is going to be kept, which then takes so much less.
  ///
  /// Within the transaction in which ``changes(in:)`` was called. O(c), c pages; O(p log p) the first
  /// time, p the leaves.
  ///
  /// - Returns: whether nothing is left that can be read ahead.
  package func readAhead(
    _ tree: OutlinedTree, atMost pages: Int, in db: Database
  ) throws -> Bool {
    guard let map, let number = map.tree(tree), map.outlines[number] == nil else { return true }
    do {
      guard let look = try lookOfMap(in: db) else { return true }
      var ahead =
        map.ahead.removeValue(forKey: number)
        ?? CountsAhead(of: number, root: map.schema.trees[number].root, in: map.pages)
      let snapshot = try snapshot(look, of: map)
      try ahead.read(atMost: pages, of: number, in: map.pages, from: snapshot)
      map.ahead[number] = ahead
      return ahead.isComplete
    } catch let doubt as CaptureDoubt {
      // All are read when the outline is asked for.
      statistics.count(doubt.rawValue)
      return true
    }
  }
}
