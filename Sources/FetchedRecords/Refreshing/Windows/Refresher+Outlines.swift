import ChangeCapture
import GRDB
import QueryAnalysis

// Reading the outlines of large b-trees before anybody asks for a page or a window.
//
// To read all pages of an index of ten million rows takes some 50 ms, in which no commit is told of and
// somebody waits. So those of the catalog's queries are read a little at a time, and are there when they
// are asked for. From then on each costs a commit some microseconds.
extension Refresher {
  /// Smaller ones are read in a millisecond, when they are asked for.
  private static let fewPages = 1024
  /// So many are read in all, some 8 bytes of memory each.
  private static let mostPagesAhead = 4 * mostPages

  /// Finds out which outlines are to be read: those of the catalog's queries under the present schema.
  func planOutlines() {
    let finder = changeFinder()
    (outlines, outlinesToRead) = ([], [])
    var left = Self.mostPagesAhead
    for tree in catalog.outlinedTrees {
      guard let pages = finder.pagesToOutline(tree) else { continue }
      if pages == 0 { outlines.insert(tree) }
      guard pages >= Self.fewPages, pages <= min(left, Self.mostPages) else { continue }
      left -= pages
      outlinesToRead.append(tree)
    }
  }

  /// Reads on in the outline that is next.
  func readOutline(_ tree: OutlinedTree, atMost pages: Int, in db: Database) throws {
    let finder = changeFinder()
    guard try finder.readAhead(tree, atMost: pages, in: db) else { return }
    outlinesToRead.removeLast()
    // Not where it is in doubt, or has grown too large.
    guard let left = finder.pagesToOutline(tree), left < Self.fewPages else { return }
    outlines.insert(tree)
    try finder.outline(outlines, in: db)
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
