import GRDB
import OrderedResults

/// The b-trees of a database and whose they are, from `sqlite_schema`.
struct SchemaMap: Equatable {
  struct Tree: Equatable {
    /// Its own name in the schema.
    var name: String
    /// The table that the b-tree holds, or indexes.
    var table: String
    var root: UInt32
    var isIndex: Bool
    /// The statement that made it.
    var sql: String
    /// Of a table WITHOUT ROWID whose keys can be compared.
    var key: TableKey?

    /// Whether to ask SQLite.
    fileprivate var mayLackRowIDs: Bool { !isIndex && sql.uppercased().contains("WITHOUT") }
  }

  /// The schema table itself is the first. Its name is the one that SQLite's authorizer uses.
  static let schemaTable = "sqlite_master"

  private(set) var trees = [
    Tree(name: Self.schemaTable, table: Self.schemaTable, root: 1, isIndex: false, sql: "")
  ]
  /// By name, with the statement that made them.
  private var virtualTables: [String: String] = [:]
  /// Virtual tables without a table of their own: whether they changed cannot be known.
  private(set) var unbackedTables: [String] = []
  /// By tree, the virtual tables that may read it.
  private(set) var readers: [Int: [String]] = [:]

  /// The schema as the transaction sees it. O(n · v), n entries, v virtual tables.
  init(in db: Database) throws {
    let rows = try Row.fetchCursor(
      db, sql: "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master")
    while let row = try rows.next() {
      let type: String = row[0] ?? ""
      let name: String = row[1] ?? ""
      let sql: String = row[4] ?? ""
      guard type == "table" || type == "index" else { continue }
      guard let root = UInt32(exactly: row[3] as Int64? ?? 0) else { continue }
      if root > 0 {
        let table: String = type == "table" ? name : row[2] ?? ""
        trees.append(
          Tree(name: name, table: table, root: root, isIndex: type == "index", sql: sql))
      } else if type == "table" {
        virtualTables[name] = sql
      }
    }
    findReaders()
    try findKeys(in: db)
  }

  private mutating func findKeys(in db: Database) throws {
    for index in trees.indices where trees[index].mayLackRowIDs {
      trees[index].key = try TableKey(of: trees[index].table, in: db)
    }
  }

  /// A virtual table keeps its data in tables named after it (`documents_content`), or is told in
  /// its arguments which to read. To take too many for such costs a refetch at most.
  private mutating func findReaders() {
    for (name, sql) in virtualTables {
      let (prefix, text) = (name.lowercased() + "_", sql.lowercased())
      var hasOwn = false
      for (index, tree) in trees.enumerated() where !tree.isIndex {
        let table = tree.table.lowercased()
        let isOwn = table.hasPrefix(prefix)
        hasOwn = hasOwn || isOwn
        if isOwn || text.contains(table) { readers[index, default: []].append(name) }
      }
      if !hasOwn { unbackedTables.append(name) }
    }
  }

  /// Tables and virtual tables that are not the same in another schema, in either of the two.
  func tablesThatDiffer(from other: SchemaMap) -> Set<String> {
    let (mine, others) = (statements, other.statements)
    var names = Set(mine.filter { others[$0.key] != $0.value }.keys)
    names.formUnion(others.keys.filter { mine[$0] == nil })
    return names
  }

  private var statements: [String: String] {
    var result = virtualTables
    for tree in trees where !tree.isIndex { result[tree.table] = tree.sql }
    return result
  }
}
