import TestSupport

// All rows in an order, with their places in it, and running sums.
extension RandomSelectWriter {
  /// Groups, with their places in an order, and running sums of what their rows come to.
  mutating func selectOfRunningGroups() -> RandomSelect {
    let inner = groups()
    let isOver = inner.isDistinct || random.once(in: 2)
    // What makes each column: within GROUP BY its expression, around that its name.
    let terms = inner.fields.enumerated().map { number, field in
      isOver ? "f\(number)" : String(field.dropLast(" AS f\(number)".count))
    }
    var select = isOver ? over("(\(inner.sql)) AS s", named: terms) : inner
    (select.shape, select.limit) = ("places of groups", nil)
    if isOver { select.fields = terms }
    let term = random.pick(terms) + random.pick(["", " DESC", " DESC", " NULLS LAST"])
    let key = inner.shape == "groups" && !inner.isDistinct ? (isOver ? "f0" : inner.groupBy) : nil
    for number in 0..<random.number(1...2) {
      let ofEqual = ["rank", "rank", "dense_rank"].map { "\($0)() OVER (ORDER BY \(term))" }
      let total = [term, key].compactMap(\.self).joined(separator: ", ")
      let ofEach = ["row_number()", "sum(\(random.pick(terms)))", "count(\(random.pick(terms)))"]
        .map { "\($0) OVER (ORDER BY \(total))" }
      let call = random.pick(key == nil || random.once(in: 2) ? ofEqual : ofEach)
      select.fields.append("\(call) AS p\(number)")
    }
    select.order = random.pick([[], ["p0"], [term], ["p0", terms[0]], [terms[0]]])
    if random.once(in: 8) { select.order.append("rank() OVER (ORDER BY \(terms[0])) DESC") }
    return select
  }

  mutating func selectOfRunning() -> RandomSelect {
    if random.once(in: 3) {
      return random.once(in: 2) ? selectOfRunningGroups() : selectOfPartitionedGroups()
    }
    var (select, sources) = rows(atMost: 2)
    let scope = [sources]
    let down = random.pick(["", " DESC", " DESC NULLS FIRST", " NULLS LAST"])
    let collation = random.once(in: 5) ? " COLLATE NOCASE" : ""
    let first = random.once(in: 4) ? value(scope, depth: 1) : column(scope)
    let term = "\(first)\(collation)\(down)"
    let keys = sources.flatMap { $0.table.identity($0.alias) ?? [] }
    let total = ([term] + keys).joined(separator: ", ")

    select.shape = "places and running sums"
    select.fields = ["\(column(scope)) AS f0"]
    for number in 0..<random.number(1...2) {
      let ofEqual = ["rank", "rank", "dense_rank"].map { "\($0)() OVER (ORDER BY \(term))" }
      let frame = random.pick(["", "", " ROWS UNBOUNDED PRECEDING"])
      let ofRows = [
        "row_number()", "rank()", "count(*)", "count(\(column(scope)))", "sum(\(column(scope)))",
        "sum(\(column(scope)) + 1)", "sum(1)", "lag(\(column(scope)))", "lead(\(column(scope)))",
        "max(\(column(scope)))", "min(\(column(scope)))",
      ].map { "\($0) OVER (ORDER BY \(total)\(frame))" }
      let mayTie = keys.count < sources.count || !select.has(keys)
      let call = random.pick(mayTie || random.once(in: 2) ? ofEqual : ofRows)
      select.fields.append("\(call) AS p\(number)")
    }
    if random.once(in: 3) { select.fields.append("\(value(scope, depth: 1)) AS more") }
    select.order = random.once(in: 3) ? ["p0"] : [term]
    select.order += random.once(in: 4) ? [column(scope)] : keys
    if random.once(in: 8) { select.order[0] += " DESC" }
    if random.once(in: 8) { select.order.insert("rank() OVER (ORDER BY \(term)) DESC", at: 0) }
    // What a subquery calls rowid is NULL.
    let isTotal = keys.count == sources.count && select.order.suffix(keys.count).elementsEqual(keys)
    if isTotal, !select.sources.contains(where: { $0.contains("SELECT") }), random.once(in: 4) {
      (select.limit, select.ordersAll) = (random.pick(["3", "4 OFFSET 1", ":p OFFSET 2"]), true)
    }
    return select
  }
}
