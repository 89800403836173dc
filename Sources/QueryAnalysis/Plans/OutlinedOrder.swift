import GRDB

/// The b-tree whose entries have the order of a query that shows every row of its table: the n-th
/// record is of the row of the n-th entry, or of the n-th from the end.
package struct OutlinedOrder: Hashable, Sendable {
  package enum Tree: Hashable, Sendable {
    case table(String)
    case index(String)
  }

  package let tree: Tree
  /// Whether the first record is of the last entry.
  package let isDescending: Bool
}

extension OutlinedOrder {
  /// What a statement does: it goes from one end of a b-tree to the other, and meets no other loop.
  ///
  /// Read from the statement's program and not from the prose of its plan, which does not say in
  /// which direction: https://www.sqlite.org/opcode.html. Whoever seeks, sorts, or keeps rows has
  /// another order, or not all of the rows.
  ///
  /// - Parameters:
  ///   - sql: a SELECT without conditions from one table, in a total order.
  ///   - db: has the schema.
  /// - Returns: nil where it is not certain.
  static func found(in sql: String, _ db: Database) -> OutlinedOrder? {
    guard let program = try? db.program(of: sql) else { return nil }
    let loops = program.filter { Self.beginnings.contains($0.opcode) }
    guard loops.count == 1, let loop = loops.first,
      !program.contains(where: { step in Self.others.contains(where: step.opcode.hasPrefix) }),
      // The third operand is the database, which is not one of those that are attached.
      let opened = program.first(where: { $0.opcode == "OpenRead" && $0.p1 == loop.p1 }),
      opened.p3 == 0, let tree = try? db.outlinedTree(at: opened.p2)
    else { return nil }
    let isDescending = loop.opcode == "Last"
    let next = program.filter { ["Next", "Prev"].contains($0.opcode) }
    guard next.count == 1, next[0].p1 == loop.p1, next[0].opcode == (isDescending ? "Prev" : "Next")
    else { return nil }
    return OutlinedOrder(tree: tree, isDescending: isDescending)
  }

  private static let beginnings: Set = ["Rewind", "Last"]
  /// How the opcodes begin that make another order, or leave rows out.
  private static let others = [
    "Seek", "Found", "NotFound", "NoConflict", "IdxGT", "IdxGE", "IdxLT", "IdxLE", "Sort",
    "Sorter", "OpenEphemeral", "OpenAutoindex", "OpenPseudo", "VOpen", "VFilter", "InitCoroutine",
    "Filter", "RowSet",
  ]
}

extension Database {
  fileprivate struct Step {
    let opcode: String
    let p1: Int
    let p2: Int
    let p3: Int
  }

  /// https://www.sqlite.org/lang_explain.html
  fileprivate func program(of sql: String) throws -> [Step] {
    let statement = try makeStatement(sql: "EXPLAIN " + sql)
    statement.setUncheckedArguments(StatementArguments())
    return try Row.fetchAll(statement).map {
      Step(opcode: $0["opcode"], p1: $0["p1"], p2: $0["p2"], p3: $0["p3"])
    }
  }

  /// The b-tree with this root, if it has an entry for every row of a table.
  fileprivate func outlinedTree(at root: Int) throws -> OutlinedOrder.Tree? {
    let found = try Row.fetchOne(
      self, sql: "SELECT type, name, tbl_name FROM sqlite_schema WHERE rootpage = ?",
      arguments: [root])
    guard let found else { return nil }
    let (type, name, table) = (found[0] as String, found[1] as String, found[2] as String)
    if type == "table" { return .table(name) }
    let isPartial = try Bool.fetchOne(
      self, sql: "SELECT partial FROM pragma_index_list(?) WHERE name = ?",
      arguments: [table, name])
    return isPartial == false ? .index(name) : nil
  }
}
