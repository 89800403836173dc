import TestSupport

// The first rows of an order, with their places in it.
extension RandomSelectWriter {
  /// Whose order leaves nothing open, so that LIMIT cuts at one place only.
  mutating func selectOfFirstRows() -> RandomSelect {
    let table = random.pick(schema.tables)
    let source = Source(alias: random.once(in: 3) ? table.name : "x", table: table)
    let (scope, down) = ([[source]], [random.pick(["", " DESC"]), random.pick(["", " DESC"])])
    let indexed = table.columns.filter(\.isIndexed)
    let first = random.pick(indexed.isEmpty ? table.columns : indexed).name
    let order = "\(source.alias).\(first)\(down[0])"
    let keys = (table.identity(source.alias) ?? []).map { $0 + down[1] }
    let total = ([order] + keys).joined(separator: ", ")
    var ranks = [
      "rank() OVER (ORDER BY \(order))", "dense_rank() OVER (ORDER BY \(order))",
    ]
    let from = text(source)
    let hasKeys = RandomSelect(fields: [], sources: [from]).has(table.identity(source.alias) ?? [])
    if hasKeys { ranks.append("row_number() OVER (ORDER BY \(total))") }
    if let key = source.rowKey, !from.hasPrefix("(") {
      let ofOrder = key.map { $0 + down[0] }
      ranks.append("row_number() OVER (ORDER BY \(order)\(RandomSelect.unwritten(ofOrder)))")
    }
    let rank = random.pick(ranks)

    var select = RandomSelect(
      fields: ["\(column(scope)) AS f0", "\(rank) AS f1"], sources: [from])
    // What a subquery calls rowid is NULL.
    (select.shape, select.ordersAll) = (
      "first rows with windows", !select.sources[0].hasPrefix("(")
    )
    for number in 0..<(hasKeys ? random.number(0...2) : 0) {
      let call = random.once(in: 3) ? "lag(\(column(scope)))" : "sum(\(column(scope)))"
      let window = "(ORDER BY \(total)\(call.hasPrefix("sum") ? frameOfFirstRows() : ""))"
      select.fields.append("\(call) OVER \(window) AS w\(number)")
    }
    if random.once(in: 3) { select.fields.append("\(value(scope, depth: 1)) AS more") }
    if random.once(in: 5) {
      select.conditions.append("\(column(scope)) = \(random.pick(["1", "2", "'a'", ":p"]))")
    }
    if random.once(in: 3) { return selectUpToPlace(in: select) }
    let collated = "\(source.alias).\(first) COLLATE \(random.pick(["BINARY", "NOCASE"]))"
    select.order =
      [random.once(in: 2) ? "f1" : order] + (random.once(in: 5) ? [collated] : []) + keys
    select.limit = random.pick([
      "3", "4", "4 OFFSET 1", ":p OFFSET 2", "3 OFFSET :p", "2 OFFSET -1", "-1", "-1 OFFSET 2",
      "'3'",
      "0",
    ])
    return select
  }

  /// Those whose place a SELECT over them bounds.
  private mutating func selectUpToPlace(in inner: RandomSelect) -> RandomSelect {
    let names = inner.fields.map { $0.split(separator: " ").last.map(String.init) ?? "f0" }
    var select = over("(\(inner.markedSQL)) AS \(random.pick(["s", "x"]))", named: names)
    select.shape = "rows up to a place"
    select.conditions.append(
      random.pick([
        "f1 <= 3", "f1 < 3", "f1 = 1", "4 >= f1", "2 > f1", "f1 == 2", "(f1 <= :p)", "f1 < :p",
        ":p = f1", "f1 <= 2.5", "f1 > 2", "f1 <= 'a'", "f1 <= 4 + 0",
      ]))
    return select
  }

  private mutating func frameOfFirstRows() -> String {
    random.pick([
      "", "", " ROWS 2 PRECEDING", " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
      " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
      " GROUPS 1 PRECEDING", " ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW",
    ])
  }
}
