import ChangeCapture
package import QueryAnalysis

/// Where a window is in the result of its query, as of one commit.
struct WindowPlaces: Equatable, Sendable {
  /// The records of the whole result.
  let total: Int
  /// The rows of the window's records, in their order; nil: that is not known.
  var rowIDs: [Int64]?
}

extension OutlinedTree {
  init(_ tree: OutlinedOrder.Tree) {
    switch tree {
    case .table(let name): self = .table(name)
    case .index(let name): self = .index(name)
    }
  }
}

extension Query {
  /// The b-tree that tells which rows are at which offsets of the result, if there is one.
  ///
  /// Where a page cannot be read by itself, neither can a window.
  package var outline: OutlinedOrder? { isReadInPages ? plan?.outline : nil }
}
