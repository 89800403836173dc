/// Gathers what one look has to report.
struct ChangeReport {
  private(set) var tables: [String: TableChanges] = [:]
  private(set) var schemaChanged = false
  let map: DatabaseMap
  /// The tables of which the rows are told that stand on changed leaves.
  private let outlined: Set<Int>

  /// - Parameters:
  ///   - map: names the tables.
  ///   - outlined: the trees of tables that are not followed, of whose changed leaves the rows are
  ///     told.
  init(_ map: DatabaseMap, rowsOnLeavesOf outlined: Set<Int> = []) {
    (self.map, self.outlined) = (map, outlined)
  }

  /// These rows of a table stand on leaves that changed.
  mutating func add(present rows: [Int64], ofTree tree: Int) {
    add(.present(of: rows), to: map.names[tree])
  }

  /// Rows of a followed table have changed.
  mutating func add(_ changes: TableChanges, ofTree tree: Int) {
    guard !changes.isNothing else { return }
    add(changes, to: map.names[tree])
    touchReaders(of: tree)
  }

  /// A page of a b-tree has changed. What that means for a followed table, its digests tell.
  mutating func touch(tree: Int) {
    guard !map.schema.trees[tree].isIndex else { return }
    if let digests = map.followed[tree] {
      if digests.isTooLarge { addWhole(tree: tree, .tooManyOverflowPages) }
      return
    }
    if outlined.contains(tree) {
      add(.present([]), to: map.names[tree])
      return touchReaders(of: tree)
    }
    addWhole(tree: tree, map.pages.isTable[tree] ? .notFollowed : .withoutRowID)
  }

  mutating func addWhole(tree: Int, _ reason: TableChanges.Reason) {
    guard !map.schema.trees[tree].isIndex else { return }
    addWhole(map.names[tree], reason)
    touchReaders(of: tree)
  }

  mutating func addWhole(_ name: String, _ reason: TableChanges.Reason) {
    if case .whole = tables[name] { return }
    tables[name] = .whole(reason)
  }

  mutating func changedSchema() {
    schemaChanged = true
    addWhole(SchemaMap.schemaTable, .schema)
  }

  mutating func merge(_ other: DatabaseChanges) {
    schemaChanged = schemaChanged || other.schemaChanged
    guard case .tables(let others) = other.extent else { return }
    for (name, changes) in others { add(changes, to: name) }
  }

  private mutating func add(_ changes: TableChanges, to name: String) {
    guard var joined = tables[name] else { return tables[name] = changes }
    joined.formUnion(changes)
    tables[name] = joined
  }

  private mutating func touchReaders(of tree: Int) {
    for name in map.schema.readers[tree] ?? [] {
      addWhole(map.tables.spelling(name), .virtualTable)
    }
  }

  /// The report; counts what it falls back on.
  func changes(_ statistics: inout CaptureStatistics) -> DatabaseChanges {
    var tables = tables
    if !map.schema.unbackedTables.isEmpty {
      for name in map.schema.unbackedTables {
        tables[map.tables.spelling(name)] = .whole(.virtualTable)
      }
    }
    for case .whole(let reason) in tables.values { statistics.count(reason.rawValue) }
    for case .rows(let rows) in tables.values { statistics.rowsReported += rows.count }
    for case .present(let rows) in tables.values { statistics.rowsReported += rows.count }
    for case .keys(let keys) in tables.values { statistics.rowsReported += keys.values.count }
    return .tables(tables, schemaChanged: schemaChanged)
  }
}
