import ChangeCapture
import GRDB
import QueryAnalysis

// Reading the outlines of large b-trees before anybody asks for a page or a window.
//
// To read all pages of an index of ten million rows takes some 50 ms, in which no commit could be told of.
// So those of the catalog's queries are read a little at a time, and are there when they are asked for;
// who asks before waits for them, and nobody else does, but for the summing up at the end: some
// milliseconds. From then on each costs a commit some microseconds.
extension Refresher {
  /// Smaller ones are read in a millisecond, when they are asked for.
  private static let fewPages = 1024
  /// So many pages are read in all, 1.6 GB with the usual size, which take 8 bytes of memory each.
  private static let mostPages = 400_000

  /// Finds out which outlines are to be read: those of the catalog's queries under the present schema.
  func planOutlines() {
    let finder = changeFinder()
    (outlines, outlinesToRead, outlinePages, vainOutlines) = ([], [], [:], [:])
    for tree in catalog.outlinedTrees {
      guard let pages = finder.pagesToOutline(tree) else { continue }
      if pages == 0 { outlines.insert(tree) }
      if pages >= Self.fewPages { _ = readNext(tree, of: pages) }
    }
    goOnWithOutlines()
  }

  /// Has the outline of a b-tree read next, where it is not kept and takes longer than a moment.
  ///
  /// - Returns: whether it has to be waited for.
  func readOutlineNext(_ tree: OutlinedTree) -> Bool {
    guard !outlines.contains(tree), vainOutlines[tree] != commit,
      let pages = changeFinder().pagesToOutline(tree), pages >= Self.fewPages
    else { return false }
    return readNext(tree, of: pages)
  }

  /// - Returns: false where all together would be too many pages.
  private func readNext(_ tree: OutlinedTree, of pages: Int) -> Bool {
    if let place = outlinesToRead.firstIndex(of: tree) {
      outlinesToRead.remove(at: place)
    } else {
      guard outlinePages.values.reduce(pages, +) <= Self.mostPages else { return false }
      outlinePages[tree] = pages
    }
    outlinesToRead.append(tree)
    return true
  }

  /// Keeps the outline of a b-tree that is read in a moment.
  ///
  /// - Returns: whether it is kept.
  func keepOutline(_ tree: OutlinedTree, in db: Database) throws -> Bool {
    if outlines.contains(tree) { return true }
    let finder = changeFinder()
    guard let pages = finder.pagesToOutline(tree), pages < Self.fewPages else { return false }
    outlines.insert(tree)
    try finder.outline(outlines, in: db)
    return true
  }

  /// Goes on with what has waited for an outline.
  func goOnWithOutlines() {
    let waiting = waitingForOutlines
    waitingForOutlines = []
    for goOn in waiting { goOn() }
  }

  /// Reads on in the outline that is next.
  func readOutline(_ tree: OutlinedTree, atMost pages: Int, in db: Database) throws {
    let finder = changeFinder()
    guard try finder.readAhead(tree, atMost: pages, in: db) else { return }
    outlinesToRead.removeLast()
    // Not where it is in doubt, or has grown too large.
    if try !keepOutline(tree, in: db) { (vainOutlines[tree], outlinePages[tree]) = (commit, nil) }
    goOnWithOutlines()
  }
}

extension QueryCatalog {
  /// The b-trees that have the orders of its queries, each once.
  fileprivate var outlinedTrees: [OutlinedTree] {
    var seen: Set<OutlinedTree> = []
    return all.flatMap { (try? $0.inEachOrder.get()) ?? [] }
      .compactMap { $0.outline.map { OutlinedTree($0.tree) } }
      .filter { seen.insert($0).inserted }
  }
}
