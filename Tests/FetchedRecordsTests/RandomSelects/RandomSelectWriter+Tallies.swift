import TestSupport

// Groups, and rows beside what refers to them, that are made of what many rows come to.
extension RandomSelectWriter {
  mutating func selectOfTallies() -> RandomSelect {
    random.once(in: 2) ? selectOfTalliedGroups() : selectOfOwners() ?? selectOfTalliedGroups()
  }

  /// Groups of a table, or of one with what it refers to.
  private mutating func selectOfTalliedGroups() -> RandomSelect {
    let row = Source(alias: "x", table: random.pick(schema.tables))
    var select = RandomSelect(shape: "tallied groups", fields: [], sources: [text(row)])
    var terms = exactColumns(of: row).shuffled(using: &random).prefix(random.pick([1, 1, 2]))
    if random.once(in: 3) {
      let other = Source(alias: "y", table: random.pick(schema.tables))
      if let key = other.table.identity(other.alias)?.first {
        let column = "\(row.alias).\(random.pick(row.table.columns).name)"
        select.sources.append("JOIN \(text(other)) ON \(key) = \(column)")
        if random.once(in: 2) { terms = [key] }
        if random.once(in: 2) {
          select.fields.append("\(other.alias).\(random.pick(other.table.columns).name) AS more")
          if random.once(in: 2) { terms = [key] }
        }
      }
    }
    select.fields += terms.enumerated().map { "\($1) AS k\($0)" }
    addAggregates(of: row, to: &select, isOuter: false)
    if random.once(in: 2) { select.conditions.append(condition([[row]], depth: 0)) }
    if random.once(in: 3) { addCommonValues(beside: row, to: &select) }
    select.groupBy = terms.joined(separator: ", ")
    return select
  }

  /// Rows with what those come to that refer to them; nil: they have no rowid by a name.
  private mutating func selectOfOwners() -> RandomSelect? {
    let base = Source(alias: "b", table: random.pick(schema.tables))
    guard base.table.rowID == "id", base.table.others.isEmpty, !base.table.isWithoutRowID else {
      return nil
    }
    let row = Source(alias: "y", table: random.pick(schema.tables))
    var select = RandomSelect(shape: "rows with tallies", fields: [], sources: [text(base)])
    select.fields.append("\(base.alias).\(random.pick(base.table.columns).name) AS f0")
    let columns = row.table.columns.filter { $0.declaration.hasPrefix("INTEGER") }
    let column = random.pick(columns.isEmpty ? row.table.columns : columns).name
    var conditions = ["\(row.alias).\(column) = b.id"]
    if random.once(in: 2) { conditions.append(condition([[row]], depth: 0)) }
    let refers = conditions.shuffled(using: &random).joined(separator: " AND ")
    if random.once(in: 2) {
      select.fields += (0..<random.number(1...2)).map { number in
        let aggregate = tally(of: row, isOuter: false)
        return "(SELECT \(aggregate) FROM \(text(row)) WHERE \(refers)) AS v\(number)"
      }
      if random.once(in: 3) {
        select.conditions.append("(SELECT count(*) FROM \(text(row)) WHERE \(refers)) > 1")
      }
      if random.once(in: 2) { select.order.append("v0" + random.pick(["", " DESC"])) }
      return select
    }
    let isOuter = random.once(in: 2)
    select.sources.append("\(isOuter ? "LEFT " : "")JOIN \(text(row)) ON \(refers)")
    addAggregates(of: row, to: &select, isOuter: isOuter)
    if random.once(in: 3) { select.conditions.append(condition([[base]], depth: 0)) }
    if !isOuter, random.once(in: 3) { select.conditions.append(condition([[row]], depth: 0)) }
    select.groupBy = "b.id"
    return select
  }

  private mutating func addAggregates(
    of row: Source, to select: inout RandomSelect, isOuter: Bool
  ) {
    let count = random.number(1...3)
    for number in 0..<count {
      select.fields.append("\(tally(of: row, isOuter: isOuter)) AS v\(number)")
    }
    if random.once(in: 3) {
      select.having = random.pick(["v0 > 1", "count(*) > 1", "v0 IS NOT NULL", "count(*) < :p"])
    }
    if random.once(in: 2) { select.order.append("v\(random.number(0...(count - 1))) DESC") }
    if random.once(in: 8) { select.limit = random.pick(["3", "2 OFFSET 1"]) }
  }

  /// What groups come to, beside what is the same for all.
  private mutating func addCommonValues(beside row: Source, to select: inout RandomSelect) {
    let operation = random.pick(["+", "* 10 -", "/", "||"])
    select.fields.append(
      "\(tally(of: row, isOuter: false)) \(operation) \(commonValue(1)) AS share")
    if random.once(in: 3) { select.having = "v0 \(comparison()) \(commonValue(1))" }
    if random.once(in: 3) { select.order.insert("share", at: 0) }
  }

  private mutating func tally(of row: Source, isOuter: Bool) -> String {
    let column = "\(row.alias).\(random.pick(row.table.columns).name)"
    let exact = random.pick(exactColumns(of: row))
    let filter = isOuter || random.number(0...5) > 0 ? "" : " FILTER (WHERE \(column) IS NOT NULL)"
    let call = random.pick([
      "count(\(column))\(filter)", "max(\(exact))", "min(\(exact))", "sum(\(exact))\(filter)",
      "avg(\(column))", "total(\(exact))", "count(DISTINCT \(exact))",
      "count(DISTINCT \(column))", "sum(DISTINCT \(exact))", "count(DISTINCT length(\(column)))",
      isOuter && random.number(0...3) > 0 ? "count(\(exact))" : "count(*)\(filter)",
    ])
    return random.pick([
      call, call, call, "coalesce(\(call), -1)", "\(call) || '-' || count(\(exact))",
    ])
  }

  private func exactColumns(of row: Source) -> [String] {
    let exact = row.table.columns.filter(\.isExact)
    return (exact.isEmpty ? row.table.columns : exact).map { "\(row.alias).\($0.name)" }
  }
}
