/// Names as SQLite compares them, and as the owner spells them.
struct FollowedTables: Equatable {
  private var spellings: [String: String] = [:]

  init(_ names: Set<String>) {
    for name in names { spellings[name.lowercased()] = name }
  }

  func contains(_ table: String) -> Bool { spellings[table.lowercased()] != nil }

  /// The name under which a table's changes are reported.
  func spelling(_ table: String) -> String { spellings[table.lowercased()] ?? table }
}
