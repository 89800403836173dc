import TestSupport

// SELECTs over groups.
extension RandomSelectWriter {
  /// A SELECT whose FROM is another that makes groups: a subquery, a table of WITH, or one within another.
  mutating func selectOverGroups() -> RandomSelect {
    var inner = groups()
    let names = inner.fields.indices.map { "f\($0)" }
    var select = RandomSelect(fields: [], sources: [])
    if random.once(in: 3) {
      let given = names.map { "g\($0)" }
      select = over("c", named: given)
      select.prefix = "WITH c(\(given.joined(separator: ", "))) AS (\(inner.sql)) "
      return select
    }
    if random.once(in: 4) {
      var middle = over("(\(inner.sql)) AS inside", named: names)
      (middle.fields, middle.order, middle.limit) = (["*"], [], nil)
      inner = middle
    }
    return over("(\(inner.sql))\(random.pick(["", " AS t0", " AS s"]))", named: names)
  }

  private mutating func over(_ source: String, named names: [String]) -> RandomSelect {
    var select = RandomSelect(shape: "over groups", fields: [], sources: [source])
    if random.once(in: 3) {
      select.fields = ["*"]
    } else {
      for number in 0..<random.number(1...2) {
        select.fields.append("\(value(of: names)) AS o\(number)")
      }
    }
    for _ in 0..<random.pick([0, 1, 1, 2]) {
      let name = random.pick(names)
      select.conditions.append(
        random.pick([
          "\(name) IS NOT NULL", "\(name) > 1", "\(name) > 1", "\(name) = 2", "\(name) <> 'a'",
          "\(name) BETWEEN 1 AND 3", "(\(name) < 3 OR \(random.pick(names)) IS NULL)",
        ]))
    }
    for _ in 0..<random.pick([0, 1, 1, 2]) {
      select.order.append(value(of: names) + random.pick(["", " DESC"]))
    }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }

  private mutating func value(of names: [String]) -> String {
    let name = random.pick(names)
    return random.pick([
      name, name, name, "coalesce(\(name), 0)", "\(name) || '-' || \(random.pick(names))",
      "CASE WHEN \(name) > 2 THEN 'many' ELSE \(random.pick(names)) END",
    ])
  }
}
