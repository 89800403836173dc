import TestSupport

// What is made of the rows that a SELECT in FROM has up to LIMIT.
extension RandomSelectWriter {
  /// The rows have an order that leaves nothing open, so that LIMIT cuts at one place only.
  mutating func selectOfLimitedRows() -> RandomSelect? {
    let within = source(from: schema.sources)
    let from = text(within)
    guard let keys = within.table.identity(within.alias),
      RandomSelect(fields: [], sources: [from]).has(keys)
    else { return nil }
    var rows = RandomSelect(fields: [], sources: [from])
    let names = keys.indices.map { "k\($0)" }
    rows.fields = zip(keys, names).map { "\($0) AS \($1)" }
    rows.fields += (0..<2).map { "\(column([[within]])) AS c\($0)" }
    if random.once(in: 3) { rows.conditions.append(condition([[within]], depth: 1)) }
    let direction = random.pick(["", " DESC"])
    rows.order =
      ["\(column([[within]]))\(direction)"] + keys.map { $0 + random.pick(["", " DESC"]) }
    rows.limit = random.pick(["3", "4", "2 OFFSET 1", ":p + 1", "9", "-1", "0"])

    let columns = (names + ["c0", "c1"]).map {
      RandomSchema.Column(name: $0, declaration: "", isExact: false)
    }
    let table = RandomSchema.Table(
      name: "r", columns: columns, rowID: names[0], isView: true,
      others: Array(names.dropFirst()))
    let source = Source(alias: "r", table: table)
    var select = RandomSelect(shape: "rows up to LIMIT in FROM", fields: [], sources: [])
    if random.once(in: 3) {
      select.commonTables = ["w AS (\(rows.sql))"]
      select.sources = ["w AS r"]
    } else {
      select.sources = ["(\(rows.sql)) AS r"]
    }
    var sources = [source]
    for _ in 0..<random.pick([0, 0, 1, 1, 2]) {
      let other = self.source(from: schema.tables)
      select.sources.append(
        "\(random.pick(["JOIN", "LEFT JOIN"])) \(text(other)) ON \(equality(other, sources))")
      sources.append(other)
    }
    let scope = [sources]
    select.fields = random.once(in: 2) ? names.enumerated().map { "r.\($1) AS f\($0)" } : []
    for number in select.fields.count...(select.fields.count + random.number(0...1)) {
      select.fields.append("\(value(scope, depth: 1)) AS f\(number)")
    }
    for _ in 0..<random.pick([0, 0, 1]) { select.conditions.append(condition(scope, depth: 1)) }
    select.order = ["\(random.pick([value(scope, depth: 1), "f0"]))\(random.pick(["", " DESC"]))"]
    if random.once(in: 10) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }
}
