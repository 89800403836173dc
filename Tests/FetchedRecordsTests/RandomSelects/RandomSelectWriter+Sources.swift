import TestSupport

// What stands in FROM.
extension RandomSelectWriter {
  mutating func source(from tables: [RandomSchema.Table]) -> Source {
    if random.once(in: 12) {
      aliases += 1
      let (sql, table) = schema.derived(named: "(", using: &random)
      return Source(alias: "s\(aliases)", table: table, sql: "(\(sql))")
    }
    let table = random.pick(tables)
    // A table's own name is shadowed by the same name within.
    if random.once(in: 3), aliases == 0 || random.once(in: 3) {
      aliases += 1
      return Source(alias: table.name, table: table)
    }
    aliases += 1
    return Source(alias: "s\(aliases)", table: table)
  }

  mutating func text(_ source: Source) -> String {
    if let sql = source.sql { return "\(sql) AS \(source.alias)" }
    if !source.table.isView, random.once(in: 12) {
      let column = random.pick(source.table.columns).name
      return "(SELECT * FROM \(source.table.name) WHERE \(column) IS NOT 3) AS \(source.alias)"
    }
    return source.alias == source.table.name
      ? source.alias : "\(source.table.name) AS \(source.alias)"
  }

  /// A source joined to others: by a condition, or by columns of the same name.
  mutating func join(_ source: Source, _ text: String, to others: [Source]) -> String {
    let word = random.pick(["JOIN", "LEFT JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN"])
    let known = Set(others.flatMap { $0.table.columns.map(\.name) })
    let common = source.table.columns.map(\.name).filter(known.contains)
    if random.once(in: 8), !common.isEmpty {
      return "\(word) \(text) USING (\(random.pick(common)))"
    }
    if random.once(in: 12) { return "NATURAL \(word) \(text)" }
    var condition = random.once(in: 8) ? alternatives(source, others) : equality(source, others)
    if random.once(in: 8) {
      let scope = [others + [source]]
      condition +=
        " AND "
        + (random.once(in: 2)
          ? membership(scope, 1)
          : "\(random.pick(["", "NOT "]))EXISTS \(subquery("1", scope, 1))")
    }
    return "\(word) \(text) ON \(condition)"
  }

  /// FROM of two tables whose rows are kept on both sides, and WHERE.
  mutating func fullJoin() -> (RandomSelect, [Source]) {
    let rows = schema.tables.filter { !$0.isWithoutRowID }
    let first = source(from: rows.isEmpty ? schema.tables : rows)
    let second = source(from: rows.isEmpty ? schema.tables : rows)
    var condition = equality(second, [first])
    if random.once(in: 2) {
      let column = searchedColumn(of: first)
      let same = matching(column, of: first, in: second.table)
      condition = "\(column) = \(second.alias).\(same)"
    }
    if random.once(in: 4) { condition += " AND " + self.condition([[first, second]], depth: 1) }
    let word = random.pick(["FULL JOIN", "FULL OUTER JOIN"])
    var select = RandomSelect(
      shape: "rows of FULL JOIN", fields: [],
      sources: [text(first), "\(word) \(text(second)) ON \(condition)"])
    for _ in 0..<random.pick([0, 0, 1]) {
      select.conditions.append(self.condition([[first, second]], depth: 2))
    }
    return (select, [first, second])
  }

  /// What is joined by one column or another.
  private mutating func alternatives(_ source: Source, _ others: [Source]) -> String {
    if random.once(in: 2) {
      return "(\(equality(source, others)) OR \(equality(source, others)))"
    }
    let (one, other) =
      random.once(in: 2) ? (source, random.pick(others)) : (random.pick(others), source)
    let list = (0..<random.number(1...3)).map { _ in
      "\(other.alias).\(random.pick(other.table.columns).name)"
    }
    let isOfKey = one.table.rowID != nil && random.once(in: 2)
    let column = isOfKey ? one.table.rowID ?? "" : random.pick(one.table.columns).name
    return "\(one.alias).\(column) IN (\(list.joined(separator: ", ")))"
  }

  mutating func equality(_ source: Source, _ others: [Source]) -> String {
    let other = random.pick(others)
    // By a key, mostly: that is what can be followed.
    let isOfKey = source.table.rowID != nil && random.once(in: 3)
    let column = isOfKey ? source.table.rowID ?? "" : random.pick(source.table.columns).name
    let isOfOtherKey = !isOfKey && other.table.rowID != nil && random.once(in: 2)
    let same = isOfOtherKey ? other.table.rowID ?? "" : random.pick(other.table.columns).name
    let comparison = random.once(in: 12) ? "IS" : "="
    return "\(source.alias).\(column) \(comparison) \(other.alias).\(same)"
  }
}
