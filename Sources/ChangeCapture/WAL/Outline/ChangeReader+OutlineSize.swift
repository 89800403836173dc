extension ChangeReader {
  /// How many pages have to be read to keep the outline of a b-tree; nil: not known.
  ///
  /// O(i), i the interior pages of the b-tree.
  package func pagesToOutline(_ tree: OutlinedTree) -> Int? {
    guard let map, let number = map.tree(tree) else { return nil }
    if map.outlines[number] != nil { return 0 }
    // Where all are read, there is no outline yet.
    if let ahead = map.ahead[number] { return max(1, ahead.pagesLeft) }
    return map.pages.numberOfPages(root: map.schema.trees[number].root).leaves
  }
}
