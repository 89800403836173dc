/// Which b-tree each page of a database belongs to.
///
/// A database file does not say of a page whose it is: only the path from a root, whose number is
/// in the schema, down through the interior pages leads to it. All leaves of a b-tree lie equally
/// deep, so a page's height above the leaves tells from its parent's whether it is a leaf, and
/// leaves need not be read: a table of a million rows has some 16 000 of them, and 94 interior
/// pages.
///
/// Kept per page: its parent's number, 4 bytes. Kept per interior page: its b-tree, its height and
/// the list of its children. From these ``update(changed:from:)`` finds, when interior pages
/// changed, which pages joined and which left a b-tree, at the cost of the changed pages
/// (BTreePages+Update.swift). Overflow and free pages are in no b-tree here.
struct BTreePages {
  /// The place of a b-tree in the list that ``init(roots:from:)`` was given.
  typealias Tree = Int

  struct Interior {
    var tree: Tree
    /// 1: its children are leaves.
    var height: Int
    var children: [UInt32]
  }

  /// What a page is in the b-tree that it belongs to.
  struct Role: Equatable {
    var tree: Tree
    var isLeaf: Bool
  }

  /// By page number; 0: a root, or in no b-tree.
  var parents: [UInt32]
  var interior: [UInt32: Interior] = [:]
  private(set) var roots: [UInt32: Tree] = [:]
  /// By tree: whether its pages are those of a rowid table; the others are indexes and tables
  /// WITHOUT ROWID.
  var isTable: [Bool]

  // The state of one update; see BTreePages+Update.swift.
  var journal: [UInt32: Role?] = [:]
  /// Whether the pages are read for the first time, and were nothing before.
  private(set) var isNew = true
  var orphans: [UInt32] = []
  var visited: Set<UInt32> = []

  /// SQLite's own limit (BTCURSOR_MAX_DEPTH): a b-tree that is higher is damaged.
  static let maxHeight = 20

  /// Walks the interior pages of b-trees: O(p), p their number, plus 4 bytes for each page.
  init(roots list: [UInt32], from snapshot: some DatabasePages) throws(CaptureDoubt) {
    parents = Array(repeating: 0, count: Int(snapshot.pageCount) + 1)
    isTable = Array(repeating: false, count: list.count)
    for (tree, root) in list.enumerated() {
      guard root >= 1, root <= snapshot.pageCount, roots[root] == nil else { throw .malformedPage }
      roots[root] = tree
    }
    for root in list { try visit(root, changed: ChangedPages(), from: snapshot) }
    finishUpdate()
    isNew = false
  }

  /// What a page is; nil: it is in no b-tree. O(1).
  func role(of page: UInt32) -> Role? {
    if let node = interior[page] { return Role(tree: node.tree, isLeaf: false) }
    if let tree = roots[page] { return Role(tree: tree, isLeaf: true) }
    guard page < parents.count, let parent = interior[parents[Int(page)]] else { return nil }
    return Role(tree: parent.tree, isLeaf: true)
  }

  /// How far a page of a b-tree is above the leaves. O(1).
  func height(of page: UInt32) -> Int { interior[page]?.height ?? 0 }

  /// The pages of a table that have rows: its leaves, and of a table WITHOUT ROWID all. O(p log p), p its
  /// pages.
  func pagesWithRows(of tree: Tree, root: UInt32) -> [UInt32] {
    let leaves = leaves(of: tree, root: root)
    if isTable[tree] { return leaves }
    return (leaves + interior.filter { $0.value.tree == tree }.keys).sorted()
  }

  /// Whether a page has rows of the table.
  func hasRows(_ role: Role) -> Bool { role.isLeaf || !isTable[role.tree] }

  /// Whether a page has rows of this table. O(1).
  func hasRows(_ page: UInt32, of tree: Tree) -> Bool {
    role(of: page).map { $0.tree == tree && hasRows($0) } == true
  }

  /// How many pages have rows of a table. O(i), i its interior pages.
  func numberOfPagesWithRows(of tree: Tree, root: UInt32) -> Int {
    let (leaves, others) = numberOfPages(root: root)
    return isTable[tree] ? leaves : leaves + others
  }

  /// How many leaves a b-tree has, and how many interior pages. O(i), i the interior pages.
  func numberOfPages(root: UInt32) -> (leaves: Int, interior: Int) {
    guard interior[root] != nil else { return (1, 0) }
    var count = (leaves: 0, interior: 0)
    forEachInterior(below: root) { _, node in
      count.interior += 1
      if node.height == 1 { count.leaves += node.children.count }
    }
    return count
  }

  /// Shows the interior pages of a b-tree, the root first.
  func forEachInterior(below root: UInt32, _ body: (UInt32, Interior) -> Void) {
    var waiting = [root]
    while let page = waiting.popLast() {
      guard let node = interior[page] else { continue }
      body(page, node)
      if node.height > 1 { waiting += node.children }
    }
  }

  /// The pages with rows of a table that may have had none in an earlier map. O(p), p the pages of the
  /// table, most of which take a nanosecond.
  func pagesWithRows(
    of tree: Tree, root: UInt32, missingIn old: BTreePages, as oldTree: Tree
  ) -> [UInt32] {
    guard interior[root] != nil else { return [root] }
    var pages: [UInt32] = []
    forEachInterior(below: root) { page, node in
      let before = old.interior[page].flatMap { $0.tree == oldTree ? $0 : nil }
      if !isTable[tree], before == nil { pages.append(page) }
      guard node.height == 1, before?.height != 1 || before?.children != node.children else {
        return
      }
      pages += node.children
    }
    return pages
  }

  /// The leaves of a b-tree, in the order of their page numbers. O(p log p), p its pages.
  func leaves(of tree: Tree, root: UInt32) -> [UInt32] {
    guard interior[root] != nil else { return [root] }
    var leaves: [UInt32] = []
    forEachInterior(below: root) { _, node in
      if node.height == 1 { leaves += node.children }
    }
    return leaves.sorted()
  }
}
