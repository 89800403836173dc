import TestSupport

// SELECTs that UNION ALL and UNION join.
extension RandomSelectWriter {
  mutating func union() -> RandomSelect {
    if random.once(in: 4) { return setOperation() }
    let count = random.number(1...3)
    let isDistinct = random.once(in: 2)
    let written = writeCommonTables()
    var select = part(columns: count, isDistinct: isDistinct)
    select.commonTables = written
    select.shape = isDistinct ? "UNION" : "UNION ALL"
    let others = random.pick([1, 1, 1, 2])
    for number in 1...others {
      let isLast = number == others
      let word = isDistinct && (isLast || random.once(in: 2)) ? "UNION" : "UNION ALL"
      select.others.append("\(word) \(part(columns: count, isDistinct: isDistinct).sql)")
    }
    if random.number(0...2) > 0 {
      let term = random.pick(["f0", "1", "\(count)", "f0 COLLATE BINARY", "1 COLLATE NOCASE"])
      select.order = [term + random.pick(["", " DESC"])]
      if random.once(in: 3) { select.order.append("f\(count - 1)") }
      if random.once(in: 6) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    }
    dropUnread(&select)
    return select
  }

  /// EXCEPT or INTERSECT of columns.
  private mutating func setOperation() -> RandomSelect {
    let count = random.pick([1, 1, 2])
    let word = random.pick(["EXCEPT", "INTERSECT"])
    var select = columns(count)
    select.shape = word
    var other = columns(count)
    if random.once(in: 2) { other.conditions.append("\(random.pick(other.fields)) IS NOT NULL") }
    select.others = ["\(word) \(other.sql)"]
    if random.once(in: 2) {
      let term = random.pick(["1", "\(count)", select.fields[0]])
      select.order = [term + random.pick(["", " DESC"])]
      if random.once(in: 4) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    }
    return select
  }

  /// A SELECT that shows columns of one source.
  private mutating func columns(_ count: Int) -> RandomSelect {
    let source = source(from: schema.sources)
    let exact = source.table.columns.filter(\.isExact)
    var select = RandomSelect(fields: [], sources: [text(source)])
    for _ in 0..<count {
      let column = random.pick(exact.isEmpty ? source.table.columns : exact)
      select.fields.append("\(source.alias).\(column.name)")
    }
    if random.once(in: 2) { select.conditions.append(condition([[source]], depth: 1)) }
    return select
  }

  /// A SELECT over what UNION ALL or UNION makes in FROM, in WITH or in a view.
  mutating func selectOverUnion() -> RandomSelect {
    let isDistinct = random.once(in: 3)
    let count = random.number(1...3)
    let word = isDistinct ? "UNION" : "UNION ALL"
    var parts = [part(columns: count, isDistinct: isDistinct).sql]
    for _ in 0..<random.pick([1, 1, 2]) {
      parts.append("\(word) \(part(columns: count, isDistinct: isDistinct).sql)")
    }
    let sql = parts.joined(separator: " ")
    let columns = (0..<count).map {
      RandomSchema.Column(name: "f\($0)", declaration: "", isExact: isDistinct)
    }
    var source = Source(
      alias: "u",
      table: RandomSchema.Table(name: "u", columns: columns, rowID: nil, isView: true))
    var select = RandomSelect(fields: [], sources: [])
    switch random.number(0...2) {
    case 0: source.sql = "(\(sql))"
    case 1: select.commonTables = ["u AS (\(sql))"]
    default:
      let views = schema.unions
      if let view = views.first {
        source = Source(alias: random.pick(["u", view.name]), table: view)
      } else {
        source.sql = "(\(sql))"
      }
    }
    select.sources = [text(source)]
    var sources = [source]
    if random.once(in: 4) {
      let other = self.source(from: schema.tables)
      let word = random.pick(["JOIN", "LEFT JOIN"])
      select.sources.append("\(word) \(text(other)) ON \(equality(other, sources))")
      sources.append(other)
    }
    if random.once(in: 2) {
      select.fields = ["*"]
    } else {
      let own = source.table.columns.map { "\(source.alias).\($0.name) AS g\($0.name)" }
      select.fields = isDistinct && random.number(0...4) > 0 || random.once(in: 2) ? own : []
      select.fields.append("\(value([sources], depth: random.pick([0, 0, 1]))) AS h")
      if random.once(in: 8) { select.isDistinct = true }
    }
    for _ in 0..<random.pick([0, 1, 1, 2]) {
      select.conditions.append(condition([sources], depth: random.pick([0, 0, 1])))
    }
    for _ in 0..<random.pick([0, 1, 1, 2]) {
      let term =
        random.once(in: 2) ? value([sources], depth: 0) : random.pick(source.table.columns).name
      select.order.append(term + random.pick(["", " DESC"]))
    }
    if random.once(in: 8) { select.limit = random.pick(["3", "4 OFFSET 1"]) }
    select.shape = isDistinct ? "over UNION" : "over UNION ALL"
    return select
  }

  /// Which of the values that are equal and look different UNION shows is SQLite's choice.
  private mutating func part(columns count: Int, isDistinct: Bool) -> RandomSelect {
    var (select, sources) = rows(atMost: random.pick([1, 1, 1, 4]))
    for number in 0..<count {
      let isLiteral = number == 0 && random.once(in: 4)
      let literal = random.pick(["'kind'", "1", "2.0"])
      var field = isLiteral ? literal : ""
      if field.isEmpty {
        field =
          isDistinct && random.number(0...7) > 0
          ? exactColumn(of: random.pick(sources)) : value([sources], depth: random.pick([0, 0, 1]))
      }
      select.fields.append("\(field) AS f\(number)")
    }
    return select
  }
}
