import GRDB

/// Of what types the columns are that have one name, of all tables and views that a query may read: whose
/// column a name is, is not asked.
struct ColumnKinds {
  struct Kind {
    /// Whether none of them makes texts of numbers that it is compared with, and there is one.
    var isNeverText = false
    /// What a list is to have of whose values they are looked for.
    var list: CommonValue.List?
  }

  private let sql: String
  private let facts: SchemaFacts
  /// O(t + w), t tables and views of the schema, and w words of the statement and of the views that it reads.
  private lazy var sources =
    (try? facts.tablesAndViews(namedIn: facts.textsRead(by: sql))) ?? []
  /// By their names in small letters.
  private var known: [String: Kind] = [:]

  init(readBy sql: String, _ facts: SchemaFacts) { (self.sql, self.facts) = (sql, facts) }

  /// O(s), s tables and views that the statement may read, the first time.
  mutating func kind(of name: String) -> Kind {
    let key = name.lowercased()
    if let kind = known[key] { return kind }
    let kind = find(name)
    known[key] = kind
    return kind
  }

  private mutating func find(_ name: String) -> Kind {
    let owners = sources.filter { facts.columns(of: $0).contains(where: name.isSameIdentifier) }
    if owners.isEmpty {
      let isRowID = ["rowid", "_rowid_", "oid"].contains(where: name.isSameIdentifier)
      return Kind(isNeverText: isRowID, list: isRowID ? .numbers : nil)
    }
    let affinities = owners.map { facts.affinity(of: name, in: $0) }
    let areNumbers = affinities.allSatisfy { [.integer, .real, .numeric].contains($0) }
    let areTexts = affinities.allSatisfy { $0 == .text }
    return Kind(
      isNeverText: affinities.allSatisfy { $0 != nil && $0 != .text },
      list: areNumbers ? .numbers : areTexts ? .texts : nil)
  }
}

extension SchemaFacts {
  /// Of a column of a table, or of one that a view shows; nil: it is not certain.
  fileprivate func affinity(of column: String, in owner: String) -> ColumnAffinity? {
    let sql = "SELECT \(column.quotedIdentifier) FROM \(owner.quotedIdentifier)"
    guard let statement = try? db.makeStatement(sql: sql),
      let origin = StatementText(statement: statement).origin(ofColumn: 0)
    else { return nil }
    return comparison(of: origin.column.lowercased(), in: origin.table)?.affinity
  }
}
