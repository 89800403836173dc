import GRDB
import GRDBSQLite
import JSON
import OrderedResults
import QueryAnalysis

// What a subquery comes to that looks at nothing around it, and all records look at.
extension LiveResult {
  /// What became of the values since the snapshot.
  enum ValuesNow {
    /// Nothing. They are among the arguments now.
    case same(QueryArguments)
    /// They are others, which are given where the plan's statements take them.
    case others(QueryArguments?)
    /// They are known from now on, if the query runs again.
    case unknown(QueryArguments)
  }

  /// Looks up the values that may have changed.
  ///
  /// - Parameters:
  ///   - plan: the query's.
  ///   - changed: what changed since the snapshot.
  ///   - known: what is known of them (``Query/Work/values``).
  ///   - arguments: the query's.
  ///   - db: in its transaction.
  /// - Returns: what became of them.
  /// - Throws: `DatabaseError`, `StatementGuard.Interruption`.
  func compareValues(
    of plan: IncrementalPlan, after changed: [ChangedRows], known: [Int: [Value]],
    _ arguments: QueryArguments, in db: Database
  ) throws -> ValuesNow {
    lookedUp = []
    if plan.values.isEmpty { return .same([:]) }
    // Under another schema they may be others.
    let before = values?.count == plan.values.count ? values : nil
    var now = before ?? Array(repeating: .null, count: plan.values.count)
    for (index, value) in plan.values.enumerated()
    where before == nil || changed.mayChange(value) {
      if let aggregates = known[index], let plan = value.plan {
        now[index] = try plan.value(of: aggregates, arguments, in: db)
        continue
      }
      let start = ContinuousClock.now
      now[index] = try value.lookUp(arguments, in: db)
      let position = snapshot.query.alongside.count + index
      durations.statements[position] = ContinuousClock.now - start
      lookedUp.append(position)
    }
    nextValues = now
    guard zip(plan.values, now).allSatisfy({ $0.takes($1) }) else { return .others(nil) }
    let taken = QueryArguments(uniqueKeysWithValues: zip(plan.values.map(\.parameter), now))
    guard let before else {
      // Without a change of their tables they are what they were.
      return plan.values.contains(where: changed.mayChange) ? .unknown(taken) : .same(taken)
    }
    return zip(before, now).allSatisfy { $0.isIdentical(to: $1) } ? .same(taken) : .others(taken)
  }

  /// How long it takes to look up those that may have changed, as far as is known.
  func durationOfValues(after changed: [ChangedRows], known: [Int: [Value]]) -> Duration {
    guard let plan = snapshot.query.plan else { return .zero }
    let first = snapshot.query.alongside.count
    return plan.values.indices.reduce(.zero) { sum, index in
      if known[index] != nil { return sum }
      guard values == nil || changed.mayChange(plan.values[index]) else { return sum }
      return sum + (durations.statements[first + index] ?? durations.fetch ?? .zero)
    }
  }
}

extension CommonValue {
  /// What it comes to; of a list JSON, or NULL where that has no place for it.
  ///
  /// O(v log v), v values of a list, besides what SQLite takes.
  fileprivate func lookUp(_ arguments: QueryArguments, in db: Database) throws -> Value {
    guard let list else { return try db.value(of: sql, arguments) }
    let statement = try db.cachedStatement(sql: sql)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    var values: Set<Value> = []
    while try statement.step(in: db) {
      values.insert(statement.value(at: 0))
      if values.count > Self.longestList { return .null }
    }
    return list.json(of: values)
  }
}

extension CommonValue.List {
  /// Values as `json_each` takes them, in an order of their own; NULL where one is of another kind.
  fileprivate func json(of values: Set<Value>) -> Value {
    var numbers: [Int64] = []
    var texts: [[UInt8]] = []
    for value in values {
      switch (self, value) {
      case (_, .null): break
      case (.numbers, .integer(let number)): numbers.append(number)
      case (.texts, .text(let text)) where RowKeys.haveJSON([value]): texts.append(text)
      case (.numbers, _), (.texts, _): return .null
      }
    }
    numbers.sort()
    texts.sort { $0.lexicographicallyPrecedes($1) }
    var json = JSONWriter()
    json.array { json in
      if values.contains(.null) { json.null() }
      for number in numbers { json.integer(number) }
      for text in texts { text.withUnsafeBytes { json.string(utf8: $0) } }
    }
    return .text(json.bytes)
  }
}

extension [ChangedRows] {
  fileprivate func mayChange(_ value: CommonValue) -> Bool {
    contains { $0.lead.isOfValue && value.tables.contains($0.lead.table) }
  }
}

extension Value {
  /// Whether it is the same to the last bit: 0.0 equals -0.0, and looks otherwise.
  fileprivate func isIdentical(to other: Value) -> Bool {
    if case .real(let left) = self, case .real(let right) = other {
      return left.bitPattern == right.bitPattern
    }
    return self == other
  }
}
