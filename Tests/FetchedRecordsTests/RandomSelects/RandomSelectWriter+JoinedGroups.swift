import TestSupport

// SELECTs of rows that are joined with the groups of a subquery, of a table of WITH, or of several.
extension RandomSelectWriter {
  mutating func selectJoinedWithGroups() -> RandomSelect {
    let row = source(from: schema.tables)
    var select = RandomSelect(shape: "joined with groups", fields: [], sources: [text(row)])
    for number in 0..<random.number(1...2) {
      select.fields.append("\(row.alias).\(random.pick(row.table.columns).name) AS f\(number)")
    }
    for number in 0..<random.pick([1, 1, 1, 2]) { join(groups: number, to: row, in: &select) }
    if random.once(in: 5) {
      let other = source(from: schema.tables)
      let text = text(other)
      select.sources.append(join(other, text, to: [row]))
    }
    if random.once(in: 4) { select.conditions.append(condition([[row]], depth: 1)) }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }

  private mutating func join(groups number: Int, to row: Source, in select: inout RandomSelect) {
    let inner = source(from: schema.tables)
    let name = "g\(number)"
    var terms: [String] = []
    var equalities: [String] = []
    for column in inner.table.columns.filter(\.isExact).shuffled(using: &random).prefix(
      random.pick([1, 1, 1, 2]))
    {
      let term = "\(inner.alias).\(column.name)"
      let same = matching(term, of: inner, in: row.table)
      terms.append(term)
      equalities.append("\(name).k\(terms.count) = \(row.alias).\(same)")
    }
    if terms.isEmpty {
      terms = ["\(inner.alias).rowid"]
      equalities = ["\(name).k1 = \(row.alias).\(random.pick(row.table.columns).name)"]
    }
    var fields = terms.enumerated().map { "\($1) AS k\($0 + 1)" }
    let value = random.once(in: 6) ? "max(length(\(terms[0])))" : aggregate([inner])
    let isDistinct = random.once(in: 6)
    if !isDistinct { fields.append("\(value) AS n") }
    var sql = "SELECT \(isDistinct ? "DISTINCT " : "")\(fields.joined(separator: ", "))"
    sql += " FROM \(text(inner))"
    if random.once(in: 3) { sql += " WHERE \(condition([[inner]], depth: 0))" }
    if !isDistinct {
      sql += " GROUP BY \(terms.joined(separator: ", "))"
      if random.once(in: 4) { sql += " HAVING count(*) > \(random.number(0...2))" }
    }
    if random.once(in: 4) {
      let condition = random.pick(["", " WHERE k1 IS NOT NULL", isDistinct ? "" : " WHERE o.n > 1"])
      sql = "SELECT * FROM (\(sql)) AS o\(condition)"
    }
    let shown = "\(name).\(isDistinct ? "k1" : "n")"
    select.fields.append(
      random.pick([shown, shown, "coalesce(\(shown), 0)", "\(name).k1"]) + " AS v\(number)")
    let source: String
    if random.once(in: 4) {
      select.commonTables.append("w\(number) AS (\(sql))")
      source = "w\(number) AS \(name)"
    } else {
      source = "(\(sql)) AS \(name)"
    }
    if random.once(in: 4) {
      select.conditions.append(random.pick(["\(shown) > 1", "\(shown) IS NULL", "\(shown) <> 2"]))
    }
    if random.once(in: 2) { select.order.append(shown + random.pick(["", " DESC"])) }
    let condition = equalities.joined(separator: " AND ")
    if random.once(in: 5), select.sources.count == 1 {
      select.sources = [source, "JOIN \(select.sources[0]) ON \(condition)"]
    } else if random.once(in: 6) {
      select.sources.append(", \(source)")
      select.conditions.append(condition)
    } else {
      select.sources.append(
        "\(random.pick(["JOIN", "LEFT JOIN", "LEFT JOIN"])) \(source) ON \(condition)")
    }
  }
}
