import TestSupport

// SELECTs with window functions.
extension RandomSelectWriter {
  /// Only such whose values are certain whatever SQLite's plan.
  mutating func window(
    _ select: inout RandomSelect, _ sources: [Source], showsPartition: Bool = false
  ) {
    select.shape = "windows"
    let source = random.pick(sources)
    var owner = random.once(in: 3) ? searchedColumn(of: source) : exactColumn(of: source)
    if sources.count == 1, let expression = source.table.expressions.first, random.once(in: 4) {
      owner = expression
    }
    if random.once(in: 8) {
      select.conditions.append("\(owner) = \(random.pick(["1", "2", "'a'", ":p"]))")
      owner = ""
    }
    select.fields = ["\(column([sources])) AS f0"]
    for number in 1...random.number(1...3) {
      select.fields.append("\(windowFunction(sources, owner, &select)) AS f\(number)")
    }
    if random.once(in: 3) { select.fields.append("\(value([sources], depth: 1)) AS more") }
    if showsPartition, !owner.isEmpty { select.fields.append("\(owner) AS part") }
    switch random.number(0...5) {
    case 0, 1: select.order = ["f1\(random.pick(["", " DESC"]))"]
    case 2: select.order = ["\(windowFunction(sources, owner, &select)) + 1", "f0"]
    default: break
    }
    if random.once(in: 10) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
  }

  private mutating func windowFunction(
    _ sources: [Source], _ owner: String, _ select: inout RandomSelect
  ) -> String {
    let terms = random.once(in: 3) ? ", \(column([sources]))" : ""
    let isWhole = owner.isEmpty || random.once(in: 20)
    let partition = isWhole ? "" : "PARTITION BY \(owner)\(terms)"
    let isTable =
      sources.count == 1 && !select.sources[0].hasPrefix("(") && !sources[0].table.isView
    if isTable, random.once(in: 4), let key = sources[0].rowKey {
      return functionOfAnyOrder(sources, partition, key, &select)
    }
    let keys = sources.compactMap { $0.table.identity($0.alias) }
    let areThere = keys.count == sources.count && select.has(Array(keys.joined()))
    let isTotal = areThere && random.number(0...2) > 0
    var order = random.once(in: 3) ? [] : ["\(column([sources]))\(random.pick(["", " DESC"]))"]
    if isTotal { order += keys.joined() }
    let list = order.joined(separator: ", ")
    var window = order.isEmpty ? partition : "\(partition) ORDER BY \(list)"
    let call = isTotal ? orderedCall(sources) : call(sources)
    if isTotal || !call.hasPrefix("sum"), random.once(in: 3) {
      window += frame(dividesEqual: isTotal, hasOneTerm: order.count == 1)
    }
    guard random.once(in: 5), select.windows == nil else { return "\(call) OVER (\(window))" }
    if window.contains("BETWEEN") || random.once(in: 2) {
      select.windows = "w AS (\(window))"
      return "\(call) OVER w"
    }
    select.windows = "w AS (\(partition))"
    return "\(call) OVER (w\(order.isEmpty ? "" : " ORDER BY \(list)"))"
  }

  /// What depends on which of equal rows comes first, where no key says it.
  private mutating func functionOfAnyOrder(
    _ sources: [Source], _ partition: String, _ key: [String], _ select: inout RandomSelect
  ) -> String {
    let direction = random.pick(["", "", " DESC", " COLLATE NOCASE DESC", " NULLS LAST"])
    let order = "ORDER BY \(column([sources]))\(direction)"
    let unwritten = RandomSelect.unwritten(
      key.map { direction.contains("DESC") ? "\($0) DESC" : $0 })
    let column = column([sources])
    let ofPlaces = [
      "row_number()", "row_number()", "ntile(2)", "lag(\(column))", "lead(\(column), 2, 'none')",
      "first_value(\(column))",
    ]
    let ofFrames = [
      "last_value(\(column))", "nth_value(\(column), 2)", "group_concat(\(column), '-')",
      "sum(\(column))", "count(\(column))",
    ]
    let frame = random.pick([
      " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    ])
    let isOfPlace = random.number(0...2) > 0
    let call = random.pick(isOfPlace ? ofPlaces : ofFrames)
    let body = "\(partition) \(order)\(unwritten)\(isOfPlace ? "" : frame)"
    guard random.once(in: 5), select.windows == nil else { return "\(call) OVER (\(body))" }
    if !isOfPlace || random.once(in: 2) {
      select.windows = "w AS (\(body))"
      return "\(call) OVER w"
    }
    select.windows = "w AS (\(partition))"
    return "\(call) OVER (w \(order)\(unwritten))"
  }

  /// What does not depend on which of equal rows comes first.
  private mutating func call(_ sources: [Source]) -> String {
    let column = column([sources])
    let exact = exactColumn(of: random.pick(sources))
    return random.pick([
      "rank()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "count(*)",
      "count(\(column))", "sum(\(column))", "min(\(exact))", "max(\(exact))",
      "count(*) FILTER (WHERE \(column) > 1)",
    ])
  }

  private mutating func orderedCall(_ sources: [Source]) -> String {
    let column = column([sources])
    return random.pick([
      "row_number()", "row_number()", "ntile(2)", "lag(\(column))", "lead(\(column), 2, 'none')",
      "first_value(\(column))", "last_value(\(column))", "nth_value(\(column), 2)",
      "group_concat(\(column), '-')", "sum(\(column))", "total(\(column))", "max(\(column))",
      call(sources),
    ])
  }

  private mutating func frame(dividesEqual: Bool, hasOneTerm: Bool) -> String {
    let unit = random.pick(dividesEqual ? ["ROWS", "ROWS", "GROUPS"] : ["GROUPS", "GROUPS"])
    let bounds = random.pick([
      "UNBOUNDED PRECEDING AND CURRENT ROW", "1 PRECEDING AND 1 FOLLOWING",
      "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "CURRENT ROW AND UNBOUNDED FOLLOWING",
    ])
    let exclusion = random.pick(["", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE TIES"])
    if hasOneTerm, random.once(in: 4) {
      return " RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING\(exclusion)"
    }
    return " \(unit) BETWEEN \(bounds)\(exclusion)"
  }
}
