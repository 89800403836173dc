/// All that the capture knows of a database at one commit.
///
/// Thrown away as a whole when it is in doubt.
final class DatabaseMap {
  /// Which commit this is the map of.
  enum Position: Equatable {
    case log(WALIndexHeader)
    /// A database without a log: what its header said.
    case file(SIMD4<UInt32>)
  }

  var position: Position
  var layout: FileHeader
  var schema: SchemaMap
  var pages: BTreePages
  /// By tree; the schema table always is among them.
  var followed: [CellDigests?]
  /// The trees among them of which not all is read.
  private var unread: Set<Int> = []
  /// By tree: under which name to report it.
  private(set) var names: [String]
  /// By tree: where the entries are of those whose outlines are kept.
  var outlines: [Int: EntryCounts] = [:]
  /// By tree: what is read of those that are going to be kept.
  var ahead: [Int: CountsAhead] = [:]
  private(set) var tables: FollowedTables
  private let treesByName: [String: Int]
  /// By page, for databases without a log: what was on it.
  var pageDigests: [UInt64] = []

  init(
    position: Position, layout: FileHeader, schema: SchemaMap, pages: BTreePages,
    tables: FollowedTables
  ) {
    self.position = position
    self.layout = layout
    self.schema = schema
    self.pages = pages
    followed = Array(repeating: nil, count: schema.trees.count)
    self.tables = tables
    treesByName = Dictionary(
      schema.trees.indices.filter { !schema.trees[$0].isIndex }
        .map { (schema.trees[$0].table.lowercased(), $0) },
      uniquingKeysWith: { first, _ in first })
    names = schema.trees.map { tables.spelling($0.table) }
  }

  func tree(of table: String) -> Int? { treesByName[table.lowercased()] }

  /// Begins the digests of tables that are to be followed and are not, and drops the others'.
  ///
  /// Tables with at most `fewPages` pages, with overflow, are read at once. O(t + p log p), t trees, p
  /// the pages of the new ones.
  func follow(
    _ tables: FollowedTables, readingAtOnce fewPages: Int, reader: inout LeafReader,
    from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    self.tables = tables
    for (index, tree) in schema.trees.enumerated() where !tree.isIndex {
      names[index] = tables.spelling(tree.table)
      guard index == 0 || tables.contains(tree.table), pages.isTable[index] != (tree.key != nil)
      else {
        followed[index] = nil
        unread.remove(index)
        continue
      }
      guard followed[index] == nil else { continue }
      let rows = pages.pagesWithRows(of: index, root: tree.root)
      let digests = CellDigests(table: tree.table, key: tree.key, pages: rows)
      let atOnce = index == 0 ? .max : fewPages
      if rows.count <= atOnce {
        _ = try digests.read(
          atMost: atOnce, in: pages, of: index, reader: &reader, from: snapshot)
      }
      if !digests.isComplete { unread.insert(index) }
      followed[index] = digests
    }
  }

  /// Whether all rows are known of all tables that are followed.
  var isComplete: Bool { unread.isEmpty }

  /// Reads on in the tables of which not all is read. O(p), p as many pages as are asked for.
  func readRowsAhead(
    atMost limit: Int, reader: inout LeafReader, from snapshot: some DatabasePages
  ) throws(CaptureDoubt) {
    var left = limit
    while left > 0, let tree = unread.first {
      if let digests = followed[tree] {
        left -= try digests.read(
          atMost: left, in: pages, of: tree, reader: &reader, from: snapshot)
        if !digests.isComplete { return }
      }
      unread.remove(tree)
    }
  }

  /// The digests of a table whose rows are followed, as far as they are read.
  func digests(_ tree: Int) -> CellDigests? {
    guard let digests = followed[tree], !digests.isTooLarge else { return nil }
    return digests
  }

  /// The digests of a table all of whose rows are followed.
  func completeDigests(_ tree: Int) -> CellDigests? {
    guard let digests = digests(tree), digests.isComplete else { return nil }
    return digests
  }
}
