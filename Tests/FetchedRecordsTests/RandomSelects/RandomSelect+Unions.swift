import TestSupport

// SELECTs that UNION ALL joins.
extension RandomSelectWriter {
  mutating func union() -> RandomSelect {
    let count = random.number(1...3)
    let written = writeCommonTables()
    var select = part(columns: count)
    select.commonTables = written
    select.shape = "UNION ALL"
    for _ in 0..<random.pick([1, 1, 1, 2]) { select.others.append(part(columns: count).sql) }
    if random.number(0...2) > 0 {
      let term = random.pick(["f0", "1", "\(count)", "f0 COLLATE BINARY", "1 COLLATE NOCASE"])
      select.order = [term + random.pick(["", " DESC"])]
      if random.once(in: 3) { select.order.append("f\(count - 1)") }
      if random.once(in: 6) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    }
    dropUnread(&select)
    return select
  }

  private mutating func part(columns count: Int) -> RandomSelect {
    var (select, sources) = rows(atMost: random.pick([1, 1, 1, 4]))
    for number in 0..<count {
      let isLiteral = number == 0 && random.once(in: 4)
      let literal = random.pick(["'kind'", "1", "2.0"])
      let field = isLiteral ? literal : value([sources], depth: random.pick([0, 0, 1]))
      select.fields.append("\(field) AS f\(number)")
    }
    return select
  }
}
