package import GRDB
package import OrderedResults

extension TableKey {
  /// The key of a table WITHOUT ROWID; nil: it is none, or its keys cannot be compared here: text of
  /// UTF-16, or a collation of the application's.
  ///
  /// A record of such a table's b-tree begins with the columns of its key, each once:
  /// https://www.sqlite.org/fileformat2.html#representation_of_without_rowid_tables
  package init?(of table: String, in db: Database) throws {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT item.name, upper(item.coll) FROM pragma_table_list AS list,
          pragma_index_list(list.name) AS pk, pragma_index_xinfo(pk.name) AS item, pragma_encoding
          WHERE list.schema = 'main' AND list.wr AND list.name = ? COLLATE NOCASE
          AND pk.origin = 'pk' AND item.key AND encoding = 'UTF-8' ORDER BY item.seqno
          """), arguments: [table])
    let collations = rows.compactMap { ($0[1] as String?).flatMap(Collation.init) }
    let columns = rows.compactMap { $0[0] as String? }
    guard !rows.isEmpty, collations.count == rows.count, columns.count == rows.count else {
      return nil
    }
    self.init(columns: columns, collations: collations)
  }

  /// Whether a table is declared WITHOUT ROWID.
  package static func isMissingRowID(_ table: String, in db: Database) throws -> Bool {
    try Row.fetchOne(
      db.cachedStatement(
        sql: """
          SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND wr AND name = ? COLLATE NOCASE
          """), arguments: [table]) != nil
  }
}
