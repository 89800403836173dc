import GRDB

/// Whether each row that a SELECT returns depends on one row of each of its tables, and on nothing
/// else.
struct RowLocality {
  let functions: FunctionList

  init(_ db: Database) throws { functions = try FunctionList(db) }

  /// Aggregates may be allowed in the list, HAVING and ORDER BY.
  ///
  /// - Throws: ``NotIncremental`` where something else than one row of each table counts.
  func check(_ select: ResolvedSelect, allowingAggregates: Bool = false) throws(NotIncremental) {
    try checkJoins(select)
    let syntax = select.syntax
    let conditions = [syntax.predicate].compactMap(\.self) + syntax.groupBy
    for expression in conditions + select.sources.compactMap(\.condition) {
      try check(expression)
    }
    for expression in syntax.columns.map(\.text) + [syntax.having].compactMap(\.self) + syntax.order
    {
      try check(expression, allowingAggregates: allowingAggregates)
    }
  }

  func check(_ expression: String, allowingAggregates: Bool = false) throws(NotIncremental) {
    do {
      try functions.check(expression, allowingAggregates: allowingAggregates)
    } catch {
      throw NotIncremental(reason: "\(error.description): \(expression.trimmingSpaces)")
    }
  }

  /// A row that a LEFT JOIN leaves out must not decide whether the record is there at all: else the
  /// row could come or go, and none of the records shown would lead to what it changes.
  private func checkJoins(_ select: ResolvedSelect) throws(NotIncremental) {
    for (index, source) in select.sources.enumerated() where !source.isLeftJoined {
      switch source.constraint {
      case .none: break
      case .on(let condition): try checkNotNullable(condition, "ON", select)
      case .using(let names):
        for name in names {
          let before = select.sources[..<index].first { $0.has(column: name) }
          if let before, before.isNullable {
            throw NotIncremental(
              reason: "USING (\(name)) looks at \(before.name), which a LEFT JOIN may leave out")
          }
        }
      }
    }
    if let predicate = select.syntax.predicate {
      try checkNotNullable(predicate, "WHERE", select)
    }
  }

  private func checkNotNullable(
    _ condition: String, _ clause: String, _ select: ResolvedSelect
  ) throws(NotIncremental) {
    let tokens = SQLTokens.tokens(of: condition)
    if let name = select.nameOfNullable(in: tokens[...]) {
      throw NotIncremental(reason: "\(clause) looks at \(name), which a LEFT JOIN may leave out")
    }
  }
}

extension ResolvedSource {
  var condition: String? { if case .on(let condition) = constraint { condition } else { nil } }
}
