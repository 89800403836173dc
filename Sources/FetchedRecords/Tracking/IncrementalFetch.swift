import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

extension KeyedStatement {
  /// Steps the statement for all of `keys`, a batch at a time.
  ///
  /// O(k log n), k keys of a table of n rows.
  func forEach(
    _ keys: [Int64], arguments: QueryArguments, in db: Database,
    _ body: (Statement) throws -> Void
  ) throws {
    try forEach(keys, arguments: arguments, in: db, values: { $0.map(Value.integer) }, body)
  }

  /// The same for keys of several values.
  func forEach(
    _ keys: [[Value]], arguments: QueryArguments, in db: Database,
    _ body: (Statement) throws -> Void
  ) throws {
    try forEach(keys, arguments: arguments, in: db, values: { $0.flatMap(\.self) }, body)
  }

  private func forEach<Key>(
    _ keys: [Key], arguments: QueryArguments, in db: Database,
    values: (ArraySlice<Key>) -> [Value], _ body: (Statement) throws -> Void
  ) throws {
    var rest = keys[...]
    while !rest.isEmpty {
      let size = takesOne ? 1 : Self.batchSizes.last { $0 <= rest.count } ?? 1
      let statement = try db.cachedStatement(sql: sql(forKeys: size))
      statement.bind(arguments)
      defer { sqlite3_reset(statement.sqliteStatement) }
      statement.bindUnnamed(values(rest.prefix(size)))
      try body(statement)
      rest = rest.dropFirst(size)
    }
  }
}

extension IncrementalPlan.Search {
  /// Steps the statement for rows that changed. A row WITHOUT ROWID that is gone leads nowhere.
  func forEach(
    _ rows: ChangedRows, arguments: QueryArguments, in db: Database,
    _ body: (Statement) throws -> Void
  ) throws {
    if rows.keys.isEmpty {
      return try statement.forEach(rows.rowIDs, arguments: arguments, in: db, body)
    }
    let keys = rows.rowIDs.compactMap { rows.keys[$0] }.filter { !$0.isEmpty }
    try statement.forEach(keys, arguments: arguments, in: db, body)
  }
}

extension IncrementalPlan {
  /// The records of these owners that are in the result now.
  func fetch(
    _ owners: [Int64], _ contributions: Contributions?, _ keys: RowKeys,
    arguments: QueryArguments, layout: RecordLayout, in db: Database
  ) throws -> [OrderedResults.Record] {
    guard !keptRows.isEmpty, let contributions else {
      return try fetchTogether(
        owners, contributions, keys, arguments: arguments, layout: layout, in: db)
    }
    return try owners.flatMap { owner in
      var arguments = arguments
      for kept in keptRows {
        arguments[kept.parameter] = contributions.list(of: owner, kept)
      }
      return try fetchTogether(
        [owner], contributions, keys, arguments: arguments, layout: layout, in: db)
    }
  }

  private func fetchTogether(
    _ owners: [Int64], _ contributions: Contributions?, _ keys: RowKeys,
    arguments: QueryArguments, layout: RecordLayout, in db: Database
  ) throws -> [OrderedResults.Record] {
    var records: [OrderedResults.Record] = []
    switch owner {
    case .row:
      try self.records.forEach(owners, arguments: arguments, in: db) { statement in
        try statement.forEachRow(of: layout, in: db) { records.append($0.makeRecord()) }
      }
    case .keyedRow:
      let known = owners.compactMap { keys[$0] }
      try self.records.forEach(known, arguments: arguments, in: db) { statement in
        try statement.forEachRow(of: layout, in: db) { records.append($0.makeRecord()) }
      }
    case .rowOfArm, .values, .group:
      for owner in owners {
        records += try fetch(
          owner, contributions, keys, arguments: arguments, layout: layout, in: db)
      }
    }
    return records
  }

  /// The records of a group, or of a row of UNION.
  private func fetch(
    _ owner: Int64, _ contributions: Contributions?, _ keys: RowKeys,
    arguments: QueryArguments, layout: RecordLayout, in db: Database
  ) throws -> [OrderedResults.Record] {
    guard let values = values(of: owner, contributions, keys) else { return [] }
    var records: [OrderedResults.Record] = []
    let statement = try db.cachedStatement(sql: self.records.beforeKeys)
    defer { sqlite3_reset(statement.sqliteStatement) }
    statement.bind(arguments)
    statement.bindUnnamed(inTurn: values)
    try statement.forEachRow(of: layout, in: db) { records.append($0.makeRecord()) }
    return records
  }

  /// What the records of a group, or of a row of UNION, are read by; nil: there are none.
  private func values(
    of owner: Int64, _ contributions: Contributions?, _ keys: RowKeys
  ) -> [Value]? {
    switch self.owner {
    case .rowOfArm(_, let arms), .values(_, let arms): return arms.values(of: owner, keys)
    case .row, .keyedRow, .group: break
    }
    guard let contributions else { return nil }
    if contributions.members == nil { return contributions.numbers[owner] }
    return contributions.listOfMembers(of: owner).map { [$0] + contributions.numbers[owner] }
  }

  /// Whether FTS5 has to gather what begins with a word, for each row that it is asked for.
  func searchesForBeginnings(_ arguments: QueryArguments) -> Bool {
    switch beginnings {
    case nil: false
    case .written: true
    case .inArguments:
      arguments.values.contains { value in
        if case .text(let text) = value { text.contains(UInt8(ascii: "*")) } else { false }
      }
    }
  }

  /// The range of offsets that LIMIT and OFFSET show; nil where they are not two integers.
  ///
  /// A negative limit is none: https://www.sqlite.org/lang_select.html#limitoffset
  func windowRange(_ arguments: QueryArguments, in db: Database) throws -> Range<Int>? {
    guard let window else { return 0..<Int.max }
    let statement = try db.cachedStatement(sql: window.bounds)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    guard try statement.step(in: db), let limit = statement.value(at: 0).integer,
      let offset = statement.value(at: 1).integer
    else { return nil }
    let start = max(0, offset)
    let (end, isTooLarge) = start.addingReportingOverflow(limit)
    return start..<(limit < 0 || isTooLarge ? Int.max : end)
  }
}

extension WindowStatement {
  /// Runs the query without its window, or with it; nil where the sections are not in runs.
  ///
  /// O(n), n records.
  func fetch(
    _ sql: String, comparingWith old: Results, _ arguments: QueryArguments, in db: Database
  ) throws -> (results: Results, changes: ChangeSet)? {
    let statement = try db.cachedStatement(sql: sql)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    var builder = ResultsBuilder(comparingWith: old)
    try statement.forEachRow(of: old.layout, in: db) { builder.append($0) }
    return try? builder.finish()
  }
}

extension Value {
  /// The integer that this number is.
  fileprivate var integer: Int? {
    switch self {
    case .integer(let integer): Int(integer)
    case .real(let real): Int(exactly: real)
    default: nil
    }
  }
}

/// Numbers for groups, so that they are found like rows.
struct GroupIdentifiers {
  private var numbers: [[Value]: Int64] = [:]
  private var groups: [[Value]] = []
  /// About the bytes that they take.
  private(set) var size = 0
  /// How the values of each column of a group are compared; none: under BINARY.
  private let collations: [Collation]
  /// The number that was asked for last: where rows come in the order of an index, that of many.
  private var last: Int64?

  init(collations: [Collation] = []) { self.collations = collations }

  mutating func number(of group: [Value]) -> Int64 {
    let group = representative(of: group)
    if let last, groups[Int(last)] == group { return last }
    let known = numbers[group]
    last = known ?? Int64(groups.count)
    if let known { return known }
    let number = Int64(groups.count)
    numbers[group] = number
    groups.append(group)
    size += group.reduce(Self.bytesPerGroup) { $0 + MemoryLayout<Value>.stride + $1.bytesBeside }
    return number
  }

  /// Of the array, and of its places in both.
  private static let bytesPerGroup = 96

  var count: Int { groups.count }

  subscript(number: Int64) -> [Value] { groups[Int(number)] }

  /// The values by which a group is known, of all that are equal to its own.
  func representative(of group: [Value]) -> [Value] {
    collations.isEmpty ? group : zip(group, collations).map { $1.representative(of: $0) }
  }
}

extension Value {
  /// The bytes of a text or a blob, which are not in the value itself.
  fileprivate var bytesBeside: Int {
    switch self {
    case .text(let bytes), .blob(let bytes): bytes.count
    case .null, .integer, .real: 0
    }
  }
}
