import TestSupport

extension RandomSchema {
  /// A SELECT of rows for a view, for FROM, or for WITH: with joins, conditions on what a LEFT JOIN
  /// leaves out, and subqueries in every place.
  func derived(
    named name: String, using random: inout RandomSource
  ) -> (sql: String, table: Table) {
    let table = random.pick(random.once(in: 4) ? sources : tables)
    var columns = table.columns.filter { _ in random.number(0...3) > 0 }
    if columns.isEmpty { columns = table.columns }
    var list = columns.map { "x.\($0.name)" }
    var from = "\(table.name) AS x"
    var conditions: [String] = []
    func add(_ name: String, _ expression: String, isExact: Bool) {
      list.append("\(expression) AS \(name)")
      columns.append(Column(name: name, declaration: "", isExact: isExact))
    }
    if random.once(in: 2) { conditions.append("x.\(random.pick(table.columns).name) IS NOT NULL") }
    if random.once(in: 3) {
      let other = random.pick(tables)
      let column = random.pick(other.columns).name
      from +=
        random.pick([" JOIN ", " CROSS JOIN ", " LEFT JOIN ", " LEFT JOIN "]) + "\(other.name) AS y"
      from += " ON y.\(key(of: other, &random)) = x.\(random.pick(table.columns).name)"
      if random.once(in: 4) { from += " AND " + existence(in: "y", other, using: &random) }
      add("other", random.pick(["y.\(column)", "coalesce(y.\(column), 1)"]), isExact: false)
      if random.once(in: 2) {
        conditions.append(
          random.pick(["y.\(column) IS NULL", "y.\(column) = 2", "coalesce(y.\(column), 2) > 1"]))
      }
    }
    if random.once(in: 4) {
      let count = random.pick(["count(*)", "sum(z.\(random.pick(tables[0].columns).name))"])
      let inner = count == "count(*)" ? random.pick(tables) : tables[0]
      let same = random.pick(table.columns).name
      add(
        "n",
        "(SELECT \(count) FROM \(inner.name) AS z WHERE z.\(key(of: inner, &random)) = x.\(same))",
        isExact: count == "count(*)")
    }
    if random.once(in: 3) { conditions.append(existence(in: "x", table, using: &random)) }
    var sql = "SELECT \(list.joined(separator: ", ")) FROM \(from)"
    if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
    return (sql, Table(name: name, columns: columns, rowID: nil, isView: true))
  }

  /// A condition that asks another table.
  private func existence(
    in alias: String, _ table: Table, using random: inout RandomSource
  ) -> String {
    let inner = random.pick(tables)
    let (key, more) = (key(of: inner, &random), random.pick(inner.columns).name)
    let column = "\(alias).\(random.pick(table.columns).name)"
    let word = random.pick(["", "", "NOT "])
    return random.once(in: 2)
      ? "\(word)EXISTS (SELECT 1 FROM \(inner.name) AS z WHERE z.\(key) = \(column))"
      : "\(column) \(word)IN (SELECT z.\(key) FROM \(inner.name) AS z WHERE z.\(more) <> 3)"
  }

  /// A column that is searched by, mostly.
  private func key(of table: Table, _ random: inout RandomSource) -> String {
    if let rowID = table.rowID, random.once(in: 3) { return rowID }
    let indexed = table.columns.filter(\.isIndexed)
    return random.pick(indexed.isEmpty ? table.columns : indexed).name
  }
}
