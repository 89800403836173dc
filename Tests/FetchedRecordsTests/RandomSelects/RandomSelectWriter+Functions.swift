import TestSupport

// SELECTs of what a table-valued function makes of the rows before it.
extension RandomSelectWriter {
  /// The columns of `json_each` and `json_tree`, as far as values that are equal look the same: what they
  /// are called with here has no number that is written as a real and equals an integer.
  private static let function = RandomSchema.Table(
    name: "json_each",
    columns: ["value", "value", "key", "type", "id"].map {
      RandomSchema.Column(name: $0, declaration: "", isExact: true)
    }, rowID: nil, isView: false)

  mutating func selectOfFunction() -> RandomSelect {
    var (select, sources) = rows(atMost: 2)
    let function = Source(alias: "j", table: Self.function)
    let text = "\(values([sources])) AS j"
    sources.append(function)
    if random.once(in: 4) {
      let (select, sources) = rowsOfFunction(of: sources[0])
      return rows(of: select, sources)
    }
    switch random.number(0...3) {
    case 0: select.sources.append(", \(text)")
    case 1: select.sources.append("LEFT JOIN \(text) ON \(condition([sources], depth: 1))")
    default: select.sources.append("JOIN \(text) ON \(random.pick(["1", "j.value IS NOT NULL"]))")
    }
    if random.once(in: 4) { select.conditions.append(condition([sources], depth: 2)) }
    switch random.number(0...6) {
    case 0, 1, 2: group(&select, by: function, sources)
    case 3:
      (select.isDistinct, select.shape) = (true, "DISTINCT of json_each")
      select.fields = ["j.value AS f0"] + (random.once(in: 2) ? [] : ["j.key AS f1"])
    case 4:
      window(&select, sources)
      select.shape = "windows of json_each"
    default: return rows(of: select, sources)
    }
    return select
  }

  private mutating func rows(of from: RandomSelect, _ sources: [Source]) -> RandomSelect {
    var select = from
    select.shape = "rows of json_each"
    for number in 0..<random.number(1...3) {
      select.fields.append("\(value([sources], depth: 1)) AS f\(number)")
    }
    let function = sources[sources.count - 1].alias
    if random.once(in: 4) { select.fields.append("\(function).id AS more") }
    if random.once(in: 2) {
      select.order = [random.pick(["f0", "\(function).value", "f0 DESC"])]
    }
    if random.once(in: 4) {
      select.groupBy = "\(function).value"
      select.fields = ["\(function).value AS f0", "\(aggregate(sources)) AS f1"]
      (select.order, select.shape) = ([], "groups of json_each")
    }
    return select
  }

  /// What a subquery makes of a table by a function, joined with another table perhaps.
  private mutating func rowsOfFunction(of first: Source) -> (RandomSelect, [Source]) {
    let column = random.pick(first.table.columns)
    let function = "\(values([[first]])) AS j"
    let inner = RandomSelect(
      fields: ["\(first.alias).\(column.name) AS own", "j.value", "j.key", "j.type", "j.id"],
      sources: [text(first), "\(random.pick([",", "JOIN"])) \(function)"])
    var columns = Self.function.columns
    columns.append(
      RandomSchema.Column(name: "own", declaration: "", isExact: column.isExact))
    let table = RandomSchema.Table(name: "(", columns: columns, rowID: nil, isView: true)
    let source = Source(alias: "s", table: table, sql: "(\(inner.sql))")
    let only = RandomSelect(fields: [], sources: [text(source)])
    guard random.once(in: 2) else { return (only, [source]) }
    let other = self.source(from: schema.sources)
    var joined = RandomSelect(fields: [], sources: [text(other)])
    joined.sources.append(join(source, text(source), to: [other]))
    return (joined, [other, source])
  }

  private mutating func group(
    _ select: inout RandomSelect, by function: Source, _ sources: [Source]
  ) {
    select.shape = "groups of json_each"
    var terms = [random.pick(["j.value", "j.value", "j.value", "j.key", "lower(j.value)"])]
    if random.once(in: 4) { terms.append(exactColumn(of: sources[0])) }
    if random.once(in: 8) { terms = [exactColumn(of: sources[0])] }
    select.groupBy = terms.joined(separator: ", ")
    select.fields =
      terms.enumerated().map { "\($1) AS f\($0)" } + ["\(aggregate(sources)) AS count"]
    if random.once(in: 4) { select.having = "count(*) > 1" }
    if random.once(in: 2) { select.order = [random.pick(["count DESC", "f0"])] }
  }
}
