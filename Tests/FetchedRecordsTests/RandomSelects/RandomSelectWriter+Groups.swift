import GRDBSQLite
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

  /// A SELECT whose FROM is another that has window functions.
  mutating func selectOverPartitions() -> RandomSelect {
    var (inner, sources) = rows(atMost: random.number(1...2))
    window(&inner, sources, showsPartition: random.number(0...5) > 0)
    (inner.order, inner.limit) = ([], nil)
    let names = inner.fields.map { $0.split(separator: " ").last.map(String.init) ?? "f0" }
    var select: RandomSelect
    if random.once(in: 3) {
      select = over("c", named: names)
      select.prefix = "WITH c AS (\(inner.markedSQL)) "
    } else {
      select = over("(\(inner.markedSQL)) AS s", named: names)
    }
    select.shape = "over partitions"
    return select
  }

  /// A SELECT that shows some of the columns of a source, which is all of its FROM.
  mutating func over(_ source: String, named names: [String]) -> RandomSelect {
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

// Groups of the values of an expression.
extension RandomSelectWriter {
  /// Its names must not be those of another source, too: it is alone.
  mutating func group(
    _ select: inout RandomSelect, by expression: String, of source: Source
  ) {
    select.sources = [select.sources[0]]
    select.conditions = random.once(in: 2) ? [] : [condition([[source]], depth: 1)]
    select.shape = "groups by expressions"
    let field = random.pick([
      expression, expression, "coalesce(\(expression), 'none')", "typeof(\(expression))",
    ])
    let more = random.once(in: 3) ? exactColumn(of: source) : nil
    select.fields = ["\(field) AS f0", "\(aggregate([source])) AS f1"]
    if let more { select.fields.append("\(more) AS f2") }
    let term = field == expression ? random.pick([expression, "1", "f0"]) : expression
    select.groupBy = ([term] + [more].compactMap(\.self)).joined(separator: ", ")
    if random.once(in: 3) { select.having = "\(expression) IS NOT NULL" }
    if random.once(in: 2) { select.order = [random.pick(["f1", "f0 DESC", expression])] }
  }
}

// Groups of which the order of the rows decides what they show.
extension RandomSelectWriter {
  /// Whether there is something that SQLite may find the groups by: the first table's rowid, or a column
  /// that has an index, where the table is alone.
  mutating func groupInOrder(_ select: inout RandomSelect, _ sources: [Source]) -> Bool {
    let source = sources[0]
    guard !source.table.isView, source.sql == nil, let rowID = source.table.rowID else {
      return false
    }
    let isJoined = sources.count > 1 && random.once(in: 2)
    if !isJoined { (select.sources, select.conditions) = ([select.sources[0]], []) }
    let column = isJoined ? "\(source.alias).\(rowID)" : searchedColumn(of: source)
    let last = isJoined ? sources[sources.count - 1] : source
    let value = "\(last.alias).\(random.pick(last.table.columns).name)"
    select.groupBy = column
    select.shape = isJoined ? "groups of joins in an order" : "groups in an order"
    let shown = random.pick([column, column, "\(column) || '!'", "upper(\(column))"])
    let extreme = random.pick(["max(\(exactColumn(of: last)))", "min(\(exactColumn(of: last)))"])
    let aggregate =
      random.once(in: 4)
      ? extreme
      : orderedAggregate(value, of: last, key: last.table.rowID.map { "\(last.alias).\($0)" })
    select.fields = ["\(shown) AS f0", "\(aggregate) AS f1"]
    // That of the first row, or of the first that has the least or the greatest.
    if random.once(in: 3) { select.fields.append("\(value) AS f2") }
    if random.once(in: 3) { select.having = "count(*) > \(random.number(0...2))" }
    if random.once(in: 3) { select.conditions.append("\(value) IS NOT 3") }
    if random.once(in: 2) {
      select.order = [random.pick(["f1", "count(*) DESC", column, "\(column) DESC", "f0"])]
    }
    if random.once(in: 4) { addSubqueries(beside: column, of: source, to: &select) }
    return true
  }

  /// An aggregate that is told in which order to take the rows, where SQLite can do that; `key` names them.
  mutating func orderedAggregate(
    _ value: String, of source: Source, key: String? = nil
  ) -> String {
    var order = ""
    if Self.ordersAggregates, random.once(in: 2) {
      let terms = [value, key.map { "\(value), \($0)" } ?? value, key ?? value]
      order = " ORDER BY \(random.pick(terms))\(random.pick(["", " DESC"]))"
    }
    return random.pick([
      "group_concat(\(value)\(order))", "group_concat(\(value), '-'\(order))", "count(*)",
      "json_group_array(CAST(\(value) AS TEXT)\(order))", "max(\(exactColumn(of: source)))",
      "group_concat(\(value)\(order)) FILTER (WHERE \(value) > 1)",
      "group_concat(DISTINCT \(value))",
    ])
  }

  /// https://www.sqlite.org/lang_aggfunc.html#aggorderby
  private static let ordersAggregates = sqlite3_libversion_number() >= 3_044_000

  /// A column that has an index; one of which equal values may look different, if there is one.
  mutating func searchedColumn(of source: Source) -> String {
    let columns = source.table.columns.filter(\.isIndexed)
    let unequal = columns.filter { !$0.isExact }
    if columns.isEmpty { return exactColumn(of: source) }
    return "\(source.alias).\(random.pick(unequal.isEmpty ? columns : unequal).name)"
  }
}

// Subqueries beside GROUP BY, of the column that it is by.
extension RandomSelectWriter {
  mutating func addSubqueries(
    beside column: String, of source: Source, to select: inout RandomSelect
  ) {
    select.shape = "groups with subqueries"
    for number in 2..<(2 + random.number(0...2)) {
      select.fields.append("\(valueSubquery(beside: column, of: source)) AS f\(number)")
    }
    if random.once(in: 3) || select.fields.count == 2 {
      let condition = random.pick([
        "\(existence(beside: column, of: source))", membership(beside: column, of: source),
        "\(valueSubquery(beside: column, of: source)) \(comparison()) \(random.number(0...2))",
      ])
      select.having = select.having.map { "\($0) AND \(condition)" } ?? condition
    }
    if random.once(in: 4) {
      select.order = ["\(valueSubquery(beside: column, of: source))", "f0"]
    }
  }

  private mutating func valueSubquery(beside column: String, of source: Source) -> String {
    let (inner, condition) = inner(beside: column, of: source)
    if random.once(in: 6) { return existence(beside: column, of: source) }
    if random.once(in: 6) { return membership(beside: column, of: source) }
    let value = exactColumn(of: inner)
    if random.once(in: 4), let rowID = inner.table.rowID {
      return """
        (SELECT \(value) FROM \(text(inner)) WHERE \(condition) \
        ORDER BY \(value)\(random.pick(["", " DESC"])), \(inner.alias).\(rowID) LIMIT 1)
        """
    }
    let call = random.pick(["count(*)", "max(\(value))", "min(\(value))", "sum(\(value))"])
    return "(SELECT \(call) FROM \(text(inner)) WHERE \(condition))"
  }

  private mutating func existence(beside column: String, of source: Source) -> String {
    let (inner, condition) = inner(beside: column, of: source)
    let list = "SELECT 1 FROM \(text(inner)) WHERE \(condition)"
    return random.pick(["", "", "NOT "]) + "EXISTS (\(list))"
  }

  private mutating func membership(beside column: String, of source: Source) -> String {
    let inner = self.source(from: schema.sources)
    let item = matching(column, of: source, in: inner.table)
    let more = random.once(in: 2) ? "" : " WHERE \(condition([[inner]], depth: 1))"
    let word = random.pick(["IN", "IN", "NOT IN"])
    return "\(column) \(word) (SELECT \(inner.alias).\(item) FROM \(text(inner))\(more))"
  }

  /// A source, and what it has in common with the group.
  private mutating func inner(
    beside column: String, of source: Source
  ) -> (source: Source, condition: String) {
    let inner = self.source(from: schema.sources)
    var conditions = ["\(inner.alias).\(matching(column, of: source, in: inner.table)) = \(column)"]
    if random.once(in: 3) { conditions.append(condition([[inner]], depth: 1)) }
    return (inner, conditions.joined(separator: " AND "))
  }

  /// A column of the same type, mostly.
  mutating func matching(
    _ column: String, of source: Source, in table: RandomSchema.Table
  ) -> String {
    let type = { (column: RandomSchema.Column) in
      column.declaration.split(separator: " ").first.map(String.init) ?? ""
    }
    let name = column.split(separator: ".").last.map(String.init) ?? column
    let own = source.table.columns.first { $0.name == name }
    let alike = table.columns.filter { own.map(type) == type($0) && $0.isIndexed }
    return random.pick(alike.isEmpty || random.once(in: 6) ? table.columns : alike).name
  }
}
