import TestSupport

// Subqueries that look at nothing around them.
extension RandomSelectWriter {
  /// A value that is the same for all records.
  mutating func commonValue(_ depth: Int) -> String {
    let inner = source(from: schema.tables)
    let condition = random.once(in: 2) ? " WHERE \(condition([[inner]], depth: depth - 1))" : ""
    if random.once(in: 3), let identity = inner.table.identity(inner.alias) {
      let name = random.pick(inner.table.columns).name
      return """
        (SELECT \(inner.alias).\(random.pick(inner.table.columns).name) FROM \(text(inner))\(condition) \
        ORDER BY \(inner.alias).\(name)\(random.pick(["", " DESC"])), \
        \(identity.joined(separator: ", ")) LIMIT 1)
        """
    }
    let column = exactColumn(of: inner)
    let value = random.pick([
      aggregate([inner]), "max(\(column))", "min(\(column))", "max(\(column)) || ''",
    ])
    return "(SELECT \(value) FROM \(text(inner))\(condition))"
  }

  /// A condition that looks at one.
  mutating func commonCondition(_ scope: [[Source]], _ depth: Int) -> String {
    if random.once(in: 4) {
      let inner = source(from: schema.tables)
      let condition = condition([[inner]], depth: depth - 1)
      return "\(random.pick(["", "NOT "]))EXISTS (SELECT 1 FROM \(text(inner)) WHERE \(condition))"
    }
    return random.once(in: 5)
      ? "\(column(scope)) BETWEEN \(commonValue(depth)) AND \(commonValue(depth))"
      : "\(column(scope)) \(comparison()) \(commonValue(depth))"
  }
}
