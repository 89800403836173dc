import TestSupport

// Of each group of rows those with the greatest value, in the ways in which that is written.
extension RandomSelectWriter {
  mutating func selectOfExtremes() -> RandomSelect {
    let table = random.pick(schema.tables)
    let row = Source(alias: random.once(in: 3) ? table.name : "x", table: table)
    var select = RandomSelect(shape: "extremes of groups", fields: [], sources: [text(row)])
    for number in 0..<random.number(1...2) {
      select.fields.append("\(row.alias).\(random.pick(table.columns).name) AS f\(number)")
    }
    var sources = [row]
    if random.once(in: 3) {
      let other = source(from: schema.tables)
      select.sources.append(join(other, text(other), to: sources))
      sources.append(other)
    }
    if random.once(in: 3) { select.conditions.append(condition([[row]], depth: 1)) }
    let exact = table.columns.filter(\.isExact)
    let groups = (exact.isEmpty ? table.columns : exact).shuffled(using: &random)
      .prefix(random.pick([1, 1, 1, 2])).map(\.name)
    let key = table.columns.first { $0.name == "id" }?.name
    let column = random.once(in: 3) ? random.pick(table.columns).name : key ?? "a"
    restrict(&select, row, to: column, of: groups)
    if random.once(in: 4) { select.fields.append("\(value([sources], depth: 1)) AS more") }
    if random.once(in: 2) {
      select.order.append(
        "\(row.alias).\(random.pick(table.columns).name)" + random.pick(["", " DESC"]))
    }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }

  /// Rows of a table, each with that of another which has the greatest value of its group.
  mutating func selectBesideExtremes() -> RandomSelect {
    let base = source(from: schema.tables)
    let table = random.pick(schema.tables)
    let row = Source(alias: "greatest", table: table)
    var select = RandomSelect(
      shape: "beside extremes of groups", fields: [], sources: [text(base)])
    var sources = [base]
    if random.once(in: 3) {
      let other = source(from: schema.tables)
      select.sources.append(join(other, text(other), to: sources))
      sources.append(other)
    }
    let inner = Source(
      alias: base.alias == table.name || random.once(in: 2) ? "y" : table.name, table: table)
    let from = inner.alias == table.name ? table.name : "\(table.name) AS \(inner.alias)"
    let key = random.once(in: 4) ? random.pick(table.columns).name : table.rowID ?? "a"
    let own = "\(inner.alias).\(key)"
    var conditions = ["\(inner.alias).\(random.pick(table.columns).name) = \(column(of: sources))"]
    if random.once(in: 4) { conditions.append(condition([sources, [inner]], depth: 0)) }
    let predicate = conditions.shuffled(using: &random).joined(separator: " AND ")
    // Which row of several comes first is SQLite's choice.
    let isFirst = table.rowID == key && table.others.isEmpty && random.once(in: 3)
    let order = isFirst ? " ORDER BY \(own)\(random.pick(["", " DESC"])) LIMIT 1" : ""
    let shown = isFirst ? own : "\(random.pick(["max", "min"]))(\(own))"
    let found = "(SELECT \(shown) FROM \(from) WHERE \(predicate)\(order))"
    let joinedBy = "\(row.alias).\(key)"
    var joined = [random.once(in: 4) ? "\(found) = \(joinedBy)" : "\(joinedBy) = \(found)"]
    if random.once(in: 4) { joined.append(condition([sources + [row]], depth: 0)) }
    let on = joined.shuffled(using: &random).joined(separator: " AND ")
    let word = random.pick(["JOIN", "LEFT JOIN", "LEFT JOIN"])
    select.sources.append("\(word) \(table.name) AS \(row.alias) ON \(on)")
    sources.append(row)
    for number in 0..<random.number(1...3) {
      select.fields.append("\(column(of: sources)) AS f\(number)")
    }
    if random.once(in: 3) { select.fields.append("\(value([sources], depth: 1)) AS more") }
    if random.once(in: 3) { select.conditions.append(condition([sources], depth: 1)) }
    if random.once(in: 2) { select.order.append(column(of: sources) + random.pick(["", " DESC"])) }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }

  /// Of each group the greatest value, and perhaps what else the row with it has.
  mutating func selectOfGreatest() -> RandomSelect {
    let table = random.pick(schema.tables)
    let row = Source(alias: random.once(in: 3) ? table.name : "x", table: table)
    let own = { (column: String) in "\(row.alias).\(column)" }
    let exact = table.columns.filter(\.isExact)
    let columns = exact.isEmpty ? table.columns : exact
    let groups = columns.shuffled(using: &random).prefix(random.pick([1, 1, 1, 2])).map(\.name)
    let key = table.others.isEmpty && random.number(0...2) > 0 ? table.rowID : nil
    let value = "\(random.pick(["max", "max", "min"]))(\(own(key ?? random.pick(columns).name)))"
    var select = RandomSelect(
      shape: "greatest of groups", fields: ["\(value) AS best"], sources: [text(row)])
    select.fields += groups.enumerated().map { "\(own($1)) AS k\($0)" }
    // Which of several rows with the value a column is of, is SQLite's choice.
    if key != nil {
      for number in 0..<random.number(0...2) {
        select.fields.append("\(own(random.pick(table.columns).name)) AS f\(number)")
      }
    }
    if random.once(in: 3) { select.fields.append("\(own(groups[0])) || 'x' AS more") }
    select.fields.shuffle(using: &random)
    if random.once(in: 3) { select.conditions.append(condition([[row]], depth: 0)) }
    select.groupBy = groups.map { random.pick([own($0), $0]) }.joined(separator: ", ")
    if random.once(in: 8) { select.having = "count(*) > 1" }
    if random.once(in: 2) {
      let shown = key == nil ? own(groups[0]) : own(random.pick(table.columns).name)
      select.order.append(random.pick([value, "best", shown]) + random.pick(["", " DESC"]))
    }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }

  /// Rows, each with the greatest value of those of another table that are joined with it; nil: nothing tells them apart.
  mutating func selectOfGreatestJoined() -> RandomSelect? {
    let base = source(from: schema.tables)
    guard let identity = base.table.identity(base.alias) else { return nil }
    let table = random.pick(schema.tables)
    let row = Source(alias: "y", table: table)
    let own = { (column: String) in "\(row.alias).\(column)" }
    let exact = table.columns.filter(\.isExact)
    let columns = exact.isEmpty ? table.columns : exact
    let key = table.others.isEmpty && random.once(in: 2) ? table.rowID : nil
    let function = random.pick(["max", "max", "min"])
    let value = "\(function)(\(own(key ?? random.pick(columns).name)))"
    var select = RandomSelect(
      shape: "greatest of joined rows", fields: ["\(value) AS best"], sources: [])
    let word = random.pick(["JOIN", "LEFT JOIN", "LEFT JOIN"])
    // Groups of several rows of both, that show the one with the greatest key.
    let group = base.table.columns.filter(\.isExact).randomElement(using: &random)
    let ofSeveral = key != nil && word == "JOIN" && random.once(in: 2) ? group : nil
    for number in 0..<random.number(0...2) {
      let source = ofSeveral != nil || key != nil && random.once(in: 2) ? row : base
      select.fields.append(
        "\(source.alias).\(random.pick(source.table.columns).name) AS f\(number)")
    }
    if key == nil, random.once(in: 3) {
      select.fields.append("max(\(own(random.pick(columns).name))) AS other")
    }
    select.fields.shuffle(using: &random)
    let equality = [own(random.pick(table.columns).name), random.pick(identity)]
      .shuffled(using: &random).joined(separator: " = ")
    var conditions = [equality]
    if random.once(in: 3) { conditions.append(condition([[base, row]], depth: 0)) }
    let on = " ON \(conditions.joined(separator: " AND "))"
    let isTurned = word == "JOIN" && random.once(in: 2)
    select.sources =
      isTurned
      ? [text(row), "JOIN \(text(base))\(on)"] : [text(base), "\(word) \(text(row))\(on)"]
    if random.once(in: 3) {
      select.conditions.append(condition([word == "JOIN" ? [base, row] : [base]], depth: 0))
    }
    let others = random.once(in: 4) ? [column(of: [base])] : []
    let groups = ofSeveral.map { ["\(base.alias).\($0.name)"] } ?? identity + others
    select.groupBy = groups.shuffled(using: &random).joined(separator: ", ")
    if random.once(in: 2) {
      let shown = column(of: ofSeveral != nil ? [row] : key == nil ? [base] : [base, row])
      select.order.append(random.pick([value, "best", shown]) + random.pick(["", " DESC"]))
    }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    return select
  }

  /// The first row of each group, as a window function numbers them; false: it is to be written in another way.
  private mutating func number(
    _ select: inout RandomSelect, _ row: Source, by column: String, of groups: [String]
  ) -> Bool {
    guard select.sources[0] == text(row), row.table.rowID != nil, row.table.others.isEmpty,
      random.once(in: 4)
    else { return false }
    var order = [column + random.pick(["", " DESC"])]
    // Which of equal rows comes first is SQLite's choice.
    if column != row.table.rowID {
      order.append((row.table.rowID ?? "") + random.pick(["", " DESC"]))
    }
    let condition =
      random.once(in: 3) ? " WHERE \(random.pick(row.table.columns).name) IS NOT NULL" : ""
    let sql = """
      SELECT *, row_number() OVER (PARTITION BY \(groups.joined(separator: ", ")) \
      ORDER BY \(order.joined(separator: ", "))) AS place FROM \(row.table.name)\(condition)
      """
    if random.once(in: 2) {
      select.commonTables.append("numbered AS (\(sql))")
      select.sources[0] = "numbered AS \(row.alias)"
    } else {
      select.sources[0] = "(\(sql)) AS \(row.alias)"
    }
    select.conditions.append(random.pick(["\(row.alias).place = 1", "place = 1", "1 = place"]))
    if random.once(in: 2) { select.fields.append("place") }
    return true
  }

  private mutating func column(of sources: [Source]) -> String {
    let source = random.pick(sources)
    return "\(source.alias).\(random.pick(source.table.columns).name)"
  }

  private mutating func restrict(
    _ select: inout RandomSelect, _ row: Source, to column: String, of groups: [String]
  ) {
    let name = row.table.name
    let inner = Source(alias: random.pick([name, "y", "y"]), table: row.table)
    let from = inner.alias == name ? name : "\(name) AS \(inner.alias)"
    let own = { (column: String) in "\(inner.alias).\(column)" }
    let function = random.pick(["max", "max", "min"])
    let value = "\(function)(\(own(column)))"
    let terms = groups.map(own).joined(separator: ", ")
    let list = groups.map { "\(row.alias).\($0)" }.joined(separator: ", ")
    let condition = random.once(in: 4) ? condition([[inner]], depth: 0) : nil
    let predicate = condition.map { " WHERE \($0)" } ?? ""
    let having = random.once(in: 6) ? " HAVING count(*) > 1" : ""
    // A name of the table that is the row's means another row within.
    let isOther = inner.alias != row.alias
    let sign = isOther && random.once(in: 5) ? "IS" : "="
    let equalities = groups.map { "\(own($0)) \(sign) \(row.alias).\($0)" }
    let correlated = (equalities + [condition].compactMap(\.self)).joined(separator: " AND ")
    if number(&select, row, by: column, of: groups) { return }
    switch random.number(0...(isOther ? 7 : 3)) {
    case 0:
      select.conditions.append(
        "\(row.alias).\(column) IN (SELECT \(value) FROM \(from)\(predicate) GROUP BY \(terms)\(having))"
      )
    case 1:
      select.conditions.append(
        "(\(list), \(row.alias).\(column)) IN (SELECT \(terms), \(value) FROM \(from)\(predicate) GROUP BY \(terms)\(having))"
      )
    case 2, 3:
      let names = groups.indices.map { "\(own(groups[$0])) AS k\($0)" }
      let sql =
        "SELECT \((names + ["\(value) AS best"]).joined(separator: ", ")) FROM \(from)\(predicate) GROUP BY \(terms)\(having)"
      var conditions = ["g.best = \(row.alias).\(column)"]
      if random.once(in: 2) {
        conditions += groups.indices.map { "g.k\($0) = \(row.alias).\(groups[$0])" }
      }
      if random.once(in: 3) {
        select.commonTables.append("w AS (\(sql))")
        select.sources.append("JOIN w AS g ON \(conditions.joined(separator: " AND "))")
      } else {
        select.sources.append("JOIN (\(sql)) AS g ON \(conditions.joined(separator: " AND "))")
      }
      if random.once(in: 3) { select.fields.append("g.\(random.pick(["best", "k0"])) AS v") }
    case 4:
      select.conditions.append(
        "\(row.alias).\(column) = (SELECT \(value) FROM \(from) WHERE \(correlated))")
    case 5:
      let order = random.once(in: 2) ? "" : "\(own(random.pick(row.table.columns).name)) DESC, "
      select.conditions.append(
        """
        \(row.alias).\(column) = (SELECT \(own(column)) FROM \(from) WHERE \(correlated) \
        ORDER BY \(order)\(own(column))\(random.pick(["", " DESC"])) LIMIT 1)
        """)
      // Which row of several comes first is SQLite's choice.
      if row.table.rowID != column { select.conditions = ["\(row.alias).\(groups[0]) IS NOT NULL"] }
    case 6:
      let rival = "\(own(column)) \(random.pick([">", "<"])) \(row.alias).\(column)"
      select.conditions.append(
        "NOT EXISTS (SELECT 1 FROM \(from) WHERE \((equalities + [rival]).joined(separator: " AND ")))"
      )
    default:
      let rival = "\(row.alias).\(column) \(random.pick([">", "<"])) \(own(column))"
      select.sources.append(
        "LEFT JOIN \(from) ON \((equalities + [rival]).joined(separator: " AND "))")
      select.conditions.append("\(own(random.once(in: 3) ? groups[0] : column)) IS NULL")
    }
  }
}
