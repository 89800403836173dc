import GRDB

/// Of what types the columns of a schema are that have one name: whose column a name is, is not asked.
struct ColumnKinds {
  struct Kind {
    /// Whether none of them makes texts of numbers that it is compared with, and there is one.
    var isNeverText = false
    /// What a list is to have of whose values they are looked for.
    var list: CommonValue.List?
  }

  /// By their names in small letters.
  private var known: [String: Kind] = [:]

  /// O(t), t tables and views, the first time.
  mutating func kind(of name: String, _ facts: SchemaFacts) -> Kind {
    let key = name.lowercased()
    if let kind = known[key] { return kind }
    let kind = Self.find(name, facts)
    known[key] = kind
    return kind
  }

  private static func find(_ name: String, _ facts: SchemaFacts) -> Kind {
    let owners = ((try? facts.tablesAndViews()) ?? []).filter {
      facts.columns(of: $0).contains(where: name.isSameIdentifier)
    }
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
