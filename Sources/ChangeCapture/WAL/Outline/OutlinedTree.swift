/// A b-tree whose entries an owner wants to find by their offsets, named as in the schema.
package enum OutlinedTree: Hashable, Sendable {
  /// The rows of a table that has rowids, in the order of these.
  case table(String)
  /// The entries of an index of such a table, one for each row that it covers, in the order of the
  /// index.
  case index(String)

  /// As SQLite compares names.
  var folded: Self {
    switch self {
    case .table(let name): .table(name.lowercased())
    case .index(let name): .index(name.lowercased())
    }
  }
}

extension DatabaseMap {
  /// The place of a b-tree in the schema; nil: there is none of that name, or its entries name no
  /// rowids.
  func tree(_ outlined: OutlinedTree) -> BTreePages.Tree? {
    switch outlined {
    case .table(let name):
      guard let tree = tree(of: name), pages.isTable[tree] else { return nil }
      return tree
    case .index(let name):
      let name = name.lowercased()
      let isNamed = { (tree: SchemaMap.Tree) in tree.isIndex && tree.name.lowercased() == name }
      guard let index = schema.trees.firstIndex(where: isNamed), !pages.isTable[index],
        let table = tree(of: schema.trees[index].table), pages.isTable[table]
      else { return nil }
      return index
    }
  }
}
