import TestSupport

/// Writes SELECTs: joins, groups, and subqueries in every place, within each other.
struct RandomSelectWriter {
  /// One of so many SELECTs has window functions.
  static let windowed = RandomSource.number("DIDCHANGE_WINDOWED") ?? 8
  /// Of the others, so many have GROUP BY.
  static let grouped = RandomSource.number("DIDCHANGE_GROUPED") ?? 4
  /// Of those of one table, so many show what depends on the order of its rows.
  static let ordered = RandomSource.number("DIDCHANGE_ORDERED") ?? 3
  /// And so many are joined with others by UNION ALL or UNION.
  static let united = RandomSource.number("DIDCHANGE_UNITED") ?? 6
  /// One of so many is of rows that are joined with groups.
  static let joinedGroups = RandomSource.number("DIDCHANGE_JOINED_GROUPS") ?? 12
  /// One of so many is of rows that a subquery has numbered within their partitions.
  static let overPartitions = RandomSource.number("DIDCHANGE_OVER_PARTITIONS") ?? 12
  /// One of so many is a FULL JOIN.
  static let full = RandomSource.number("DIDCHANGE_FULL") ?? 12
  /// One of so many shows the first rows of an order, with their places in it.
  static let firstRows = RandomSource.number("DIDCHANGE_FIRST_ROWS") ?? 12
  /// One of so many shows all rows with their places in the order, and running sums.
  static let running = RandomSource.number("DIDCHANGE_RUNNING") ?? 12
  /// One of so many is made of the rows up to LIMIT in its FROM.
  static let limited = RandomSource.number("DIDCHANGE_LIMITED") ?? 12
  /// One of so many is of what a table-valued function makes of rows.
  static let functions = RandomSource.number("DIDCHANGE_FUNCTIONS") ?? 12

  /// One of so many is of the rows of each group that have the greatest value.
  static let extremes = RandomSource.number("DIDCHANGE_EXTREMES") ?? 12

  /// One of so many aggregates many rows for each record.
  static let tallied = RandomSource.number("DIDCHANGE_TALLIED") ?? 12

  /// One of so many conditions and values looks at a subquery that looks at nothing around it.
  static let common = RandomSource.number("DIDCHANGE_COMMON") ?? 12

  struct Source {
    let alias: String
    let table: RandomSchema.Table
    /// A SELECT in its place.
    var sql: String?

    /// What tells the rows of a table apart for whoever follows them.
    var rowKey: [String]? {
      if !table.others.isEmpty { return nil }
      return table.isWithoutRowID ? table.identity(alias) : ["\(alias).rowid"]
    }
  }

  let schema: RandomSchema
  var random: RandomSource
  var aliases = 0
  private var commonTables: [RandomSchema.Table] = []
  private var tables: [RandomSchema.Table] { schema.sources + commonTables + commonTables }

  init(_ schema: RandomSchema, _ random: RandomSource) {
    self.schema = schema
    self.random = random
  }

  mutating func select() -> RandomSelect {
    aliases = 0
    commonTables = []
    if random.once(in: Self.united) { return random.once(in: 2) ? union() : selectOverUnion() }
    if random.once(in: Self.joinedGroups) { return selectJoinedWithGroups() }
    if random.once(in: Self.extremes) {
      if random.once(in: 3) { return selectOfGreatest() }
      if random.once(in: 3), let select = selectOfGreatestJoined() { return select }
      return random.once(in: 3) ? selectBesideExtremes() : selectOfExtremes()
    }
    if random.once(in: Self.tallied) { return selectOfTallies() }
    if random.once(in: Self.overPartitions) { return selectOverPartitions() }
    if random.once(in: Self.functions) { return selectOfFunction() }
    if random.once(in: Self.limited), let select = selectOfLimitedRows() { return select }
    if random.once(in: Self.firstRows) { return selectOfFirstRows() }
    if random.once(in: Self.running) { return selectOfRunning() }
    return random.once(in: 6) ? selectOverGroups() : selectOfRows()
  }

  private mutating func selectOfRows() -> RandomSelect {
    let written = writeCommonTables()
    let isFull = written.isEmpty && random.once(in: Self.full)
    var (select, sources) = isFull ? fullJoin() : rows()
    select.commonTables = written
    let scope = [sources]
    if !isFull, random.once(in: Self.windowed) {
      window(&select, sources)
    } else if !isFull, random.once(in: Self.grouped) {
      group(&select, sources)
    } else if !isFull, random.once(in: 8) {
      makeDistinct(&select, sources)
      if random.once(in: 2) { select.order = ["f0"] }
    } else {
      for number in 0..<random.number(1...3) {
        select.fields.append("\(value(scope, depth: 2)) AS f\(number)")
      }
      for _ in 0..<random.pick([0, 1, 1, 2]) {
        let names = select.fields.indices.map { "f\($0)" }
        let term =
          switch random.number(0...5) {
          case 0, 1: value(scope, depth: 1)
          case 2: overFields(names)
          default: "f0"
          }
        select.order.append(term + random.pick(["", " DESC"]))
      }
      if random.once(in: 10) {
        select.limit = random.pick(["3", "4 OFFSET 1"])
      }
    }
    dropUnread(&select)
    if select.shape != "rows" { return select }
    if select.sources.contains(where: { $0.hasPrefix("RIGHT") }) {
      select.shape = "rows of RIGHT JOIN"
    } else if !select.commonTables.isEmpty {
      select.shape = "rows with WITH"
    } else if sources.contains(where: \.table.isView) {
      select.shape = "rows of views"
    }
    return select
  }

  /// The tables of WITH, which can be named from then on.
  mutating func writeCommonTables() -> [String] {
    (0..<random.pick([0, 0, 0, 0, 1, 2])).map { number in
      let (sql, table) = schema.derived(named: "w\(number)", using: &random)
      commonTables.append(table)
      return "w\(number) AS (\(sql))"
    }
  }

  func dropUnread(_ select: inout RandomSelect) {
    for name in commonTables.map(\.name) where select.sql.split(separator: " \(name) ").count < 3 {
      select.commonTables.removeAll { $0.hasPrefix("\(name) ") }
    }
  }

  /// Groups, or DISTINCT rows, in no order.
  mutating func groups() -> RandomSelect {
    var sources = [source(from: schema.sources)]
    var select = RandomSelect(fields: [], sources: [text(sources[0])])
    if random.once(in: 4) {
      let other = source(from: schema.sources)
      select.sources.append(join(other, text(other), to: sources))
      sources.append(other)
    }
    if random.once(in: 2) { select.conditions.append(condition([sources], depth: 1)) }
    if random.once(in: 3) { makeDistinct(&select, sources) } else { group(&select, sources) }
    select.order = []
    return select
  }

  private mutating func makeDistinct(_ select: inout RandomSelect, _ sources: [Source]) {
    (select.isDistinct, select.shape) = (true, "DISTINCT")
    select.fields = (0..<random.number(1...2)).map {
      "\(exactColumn(of: random.pick(sources))) AS f\($0)"
    }
  }

  /// FROM and WHERE.
  mutating func rows(atMost limit: Int = 4) -> (RandomSelect, [Source]) {
    var sources: [Source] = []
    var texts: [String] = []
    for number in 0..<min(limit, random.pick([1, 1, 1, 2, 2, 3, 4])) {
      let source = source(from: tables)
      let text = text(source)
      if number == 0 {
        texts.append(text)
      } else {
        texts.append(join(source, text, to: sources))
      }
      sources.append(source)
    }
    var select = RandomSelect(fields: [], sources: texts)
    let scope = [sources]
    for _ in 0..<random.pick([0, 1, 1, 2]) { select.conditions.append(condition(scope, depth: 2)) }
    return (select, sources)
  }

  private mutating func group(_ select: inout RandomSelect, _ all: [Source]) {
    var sources = all
    let hasSubqueries = random.once(in: 2)
    if hasSubqueries, random.number(0...2) > 0 {
      (sources, select.sources, select.conditions) = ([all[0]], [select.sources[0]], [])
    }
    if random.once(in: 2) { select.conditions = [membership([sources], 1)] }
    let source = random.pick(sources)
    if let expression = sources[0].table.expressions.first, random.once(in: 3) {
      return group(&select, by: expression, of: sources[0])
    }
    if random.once(in: Self.ordered), groupInOrder(&select, sources) { return }
    let column = exactColumn(of: source)
    select.groupBy = column
    select.shape = "groups"
    select.fields = ["\(column) AS f0", "\(aggregate(sources)) AS f1"]
    if random.once(in: 3) { select.having = "count(*) > \(random.number(0...2))" }
    if random.once(in: 2) { select.order = [random.once(in: 3) ? overFields(["f0", "f1"]) : "f1"] }
    if hasSubqueries { addSubqueries(beside: column, of: source, to: &select) }
  }

  // MARK: - Expressions

  mutating func column(_ scope: [[Source]]) -> String {
    let level = random.once(in: 3) ? random.pick(scope) : scope[scope.count - 1]
    let source = random.pick(level)
    let name = random.pick(source.table.columns).name
    return random.once(in: 4) ? name : "\(source.alias).\(name)"
  }

  /// What ORDER BY may ask of result columns.
  mutating func overFields(_ names: [String]) -> String {
    let (one, other) = (random.pick(names), random.pick(names))
    return random.pick([
      "\(one) + \(other)", "\(one) IS NULL", "\(one) * -1", "coalesce(\(one), \(other), 0)",
      "length(\(one))", "CASE WHEN \(one) > 1 THEN \(other) END",
    ])
  }

  private mutating func literal() -> String {
    random.pick(["1", "2", "3", "'a'", "'b'", ":p", "NULL", "2.5"])
  }

  mutating func value(_ scope: [[Source]], depth: Int) -> String {
    if depth > 0, random.once(in: Self.common) {
      return random.pick(["", "\(column(scope)) || "]) + commonValue(depth)
    }
    switch random.number(0...11) {
    case 0: return "\(column(scope)) || '-' || \(column(scope))"
    case 1: return "coalesce(\(column(scope)), \(literal()))"
    case 2:
      return "CASE WHEN \(condition(scope, depth: depth - 1)) THEN \(column(scope)) ELSE 0 END"
    case 3 where depth > 0, 4 where depth > 0: return valueSubquery(scope, depth)
    case 5 where depth > 0: return membership(scope, depth)
    case 6 where depth > 0:
      return "\(random.pick(["", "NOT "]))EXISTS \(subquery("1", scope, depth))"
    default: return column(scope)
    }
  }

  mutating func condition(_ scope: [[Source]], depth: Int) -> String {
    if depth > 0, random.once(in: Self.common) { return commonCondition(scope, depth) }
    switch random.number(0...11) {
    case 0: return "\(column(scope)) IS NOT NULL"
    case 1: return "\(column(scope)) BETWEEN \(literal()) AND \(literal())"
    case 2 where depth > 0:
      return "(\(condition(scope, depth: depth - 1)) OR \(condition(scope, depth: depth - 1)))"
    case 3 where depth > 0: return "NOT (\(condition(scope, depth: depth - 1)))"
    case 4 where depth > 0, 5 where depth > 0:
      return "\(random.pick(["", "", "NOT "]))EXISTS \(subquery("1", scope, depth))"
    case 6 where depth > 0, 7 where depth > 0: return membership(scope, depth)
    case 8 where depth > 0: return "\(valueSubquery(scope, depth)) \(comparison()) \(literal())"
    default:
      return "\(column(scope)) \(comparison()) \(random.once(in: 2) ? literal() : column(scope))"
    }
  }

  mutating func comparison() -> String { random.pick(["=", "=", ">", "<=", "<>", "IS"]) }

  // MARK: - Subqueries

  mutating func membership(_ scope: [[Source]], _ depth: Int) -> String {
    if random.once(in: 8) {
      let word = random.pick(["IN", "NOT IN"])
      return "\(column(scope)) \(word) (SELECT value FROM \(values(scope)))"
    }
    if random.once(in: 8) { return "\(column(scope)) \(random.pick(["IN", "IN", "NOT IN"])) list" }
    let inner = source(from: tables)
    let item = random.pick(inner.table.columns).name
    let around = random.pick(scope[scope.count - 1])
    if let rowID = around.table.rowID, random.once(in: 8) {
      let isThere = random.pick(["IS NOT NULL", "NOTNULL", "> 0"])
      return """
        \(around.alias).\(rowID) NOT IN \
        (SELECT \(inner.alias).\(item) FROM \(text(inner)) WHERE \(inner.alias).\(item) \(isThere))
        """
    }
    let more = random.once(in: 3) ? "" : condition(scope + [[inner]], depth: depth - 1)
    let clause = more.isEmpty ? "" : " WHERE \(more)"
    var group = random.once(in: 8) ? " GROUP BY \(inner.alias).\(item)" : ""
    if random.once(in: 8) {
      let other = source(from: tables)
      let column = random.pick(other.table.columns).name
      let compound = random.pick(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
      group += " \(compound) SELECT \(other.alias).\(column) FROM \(text(other))"
      if other.table.rowID != nil { group += " WHERE \(equality(other, scope[scope.count - 1]))" }
    }
    return """
      \(column(scope)) \(random.pick(["IN", "IN", "IN", "NOT IN"])) \
      (SELECT \(inner.alias).\(item) FROM \(text(inner))\(clause)\(group))
      """
  }

  /// What is certain whatever SQLite's plan: an aggregate, or the first row of a total order.
  private mutating func valueSubquery(_ scope: [[Source]], _ depth: Int) -> String {
    if random.once(in: 10) {
      return "(SELECT \(random.pick(["value", "count(*)", "max(value)"])) FROM \(values(scope)))"
    }
    if random.once(in: 3) {
      let inner = source(from: schema.tables)
      if let identity = inner.table.identity(inner.alias) {
        let condition = innerCondition(inner, scope, depth)
        return """
          (SELECT \(inner.alias).\(random.pick(inner.table.columns).name) FROM \(text(inner)) \
          WHERE \(condition) ORDER BY \(inner.alias).\(random.pick(inner.table.columns).name)\
          \(random.pick(["", " DESC"])), \(identity.joined(separator: ", ")) LIMIT 1)
          """
      }
    }
    let inner = source(from: tables)
    if random.once(in: 10) {
      let order =
        random.once(in: 4)
        ? "" : " ORDER BY \(inner.alias).\(random.pick(inner.table.columns).name)"
      let list =
        "\(inner.alias).\(random.pick(inner.table.columns).name) AS v, \(column([[inner]])) AS w"
      return """
        (SELECT \(orderedAggregate("v", of: inner)) FROM (SELECT \(list) FROM \(text(inner)) \
        WHERE \(innerCondition(inner, scope, depth))\(order))\(random.pick(["", " AS q"]))\
        \(random.pick(["", "", " WHERE w IS NOT NULL"])))
        """
    }
    let isOrdered = random.once(in: 5)
    let aggregate =
      isOrdered
      ? orderedAggregate(
        "\(inner.alias).\(random.pick(inner.table.columns).name)", of: inner,
        key: inner.table.rowID.map { "\(inner.alias).\($0)" }) : aggregate([inner])
    return "(SELECT \(aggregate) FROM \(text(inner)) WHERE \(innerCondition(inner, scope, depth)))"
  }

  /// A function's rows, of what is around it. JSON holds no BLOB.
  mutating func values(_ scope: [[Source]]) -> String {
    let items = (0..<random.number(1...3)).map { _ in
      random.once(in: 2) ? literal() : "CAST(\(column(scope)) AS TEXT)"
    }
    let name = random.pick(["json_each", "json_tree"])
    return "\(name)(json_array(\(items.joined(separator: ", "))))"
  }

  mutating func subquery(_ list: String, _ scope: [[Source]], _ depth: Int) -> String {
    if random.once(in: 10) {
      let condition = "j.value \(comparison()) \(column(scope))"
      return "(SELECT \(list) FROM \(values(scope)) AS j WHERE \(condition))"
    }
    let inner = source(from: tables)
    var sources = [inner]
    var joined = ""
    if random.once(in: 10) {
      let within = scope + [[inner]]
      joined = " \(random.pick(["JOIN", "LEFT JOIN"])) \(values(within)) AS j"
      joined += " ON j.value = \(column(within))"
    } else if random.once(in: 5) {
      let other = source(from: schema.tables)
      let text = text(other)
      joined = " " + join(other, text, to: sources)
      sources.append(other)
    }
    let group =
      random.once(in: 8)
      ? " GROUP BY \(inner.alias).\(random.pick(inner.table.columns).name) HAVING count(*) > 1" : ""
    return """
      (SELECT \(list) FROM \(text(inner))\(joined) \
      WHERE \(innerCondition(inner, scope, depth))\(group))
      """
  }

  /// Something in common with the rows outside, mostly.
  private mutating func innerCondition(
    _ inner: Source, _ scope: [[Source]], _ depth: Int
  ) -> String {
    var conditions: [String] = []
    if random.number(0...5) > 0 { conditions.append(equality(inner, scope[scope.count - 1])) }
    if conditions.isEmpty || random.once(in: 3) {
      conditions.append(condition(scope + [[inner]], depth: depth - 1))
    }
    return conditions.joined(separator: " AND ")
  }

  mutating func aggregate(_ sources: [Source]) -> String {
    let column = exactColumn(of: random.pick(sources))
    return random.pick([
      "count(*)", "count(*)", "count(\(column))", "count(DISTINCT \(column))", "sum(\(column))",
      "total(\(column))",
    ])
  }

  /// Which of the values that are equal and look different a group shows is SQLite's choice.
  mutating func exactColumn(of source: Source) -> String {
    let exact = source.table.columns.filter(\.isExact)
    let indexed = exact.filter(\.isIndexed)
    if exact.isEmpty { return "\(source.alias).rowid" }
    let isFree = indexed.isEmpty || random.once(in: 3)
    return "\(source.alias).\(random.pick(isFree ? exact : indexed).name)"
  }
}
