import GRDB

/// `operand IN (SELECT …)`: which rows of the subquery decide about a row around it.
///
/// Where the operand equals none of them, a row changes nothing; but for NULL, to which IN answers
/// NULL and not false: https://www.sqlite.org/lang_expr.html#the_in_and_not_in_operators
struct Membership {
  let operand: ArraySlice<SQLToken>?
  /// All SELECTs of the subquery, and the one that it is about.
  let parts: [SelectSyntax]
  let select: ResolvedSelect
  /// Whether NULL is as good as false.
  let ignoresNull: Bool

  /// What a row around the subquery and one in it must have in common.
  func condition(
    _ around: NameScopes, _ within: NameScopes, _ functions: FunctionList, _ facts: SchemaFacts
  ) throws(NotIncremental) -> String {
    guard let operand else {
      throw NotIncremental(reason: "what stands before IN is no column: put it in parentheses")
    }
    let written = "\(operand.sourceText) IN (SELECT …)"
    let items = select.expandedColumns?.map(\.expression) ?? []
    let isOfRows =
      parts.allSatisfy { $0.limit == nil } && !items.isEmpty
      && !items.contains(where: functions.callsAggregate)
    let group = select.syntax.groupBy.compactMap(select.origin(of:))
    let isOfGroup = items.allSatisfy { item in
      select.origin(of: item).map(group.contains) == true
    }
    guard isOfRows, select.syntax.groupBy.isEmpty ? select.syntax.having == nil : isOfGroup else {
      throw NotIncremental(
        reason: "what is in the list of \(written) depends on more than the row that it is of")
    }
    guard let left = around.qualified(operand),
      let right = items.map(within.qualified) as? [String],
      parts.count == 1 || isNumeric(operand, around, facts)
    else { throw NotIncremental(reason: "what \(written) compares is not certain") }
    guard
      ignoresNull
        || isNeverNull(operand, around, facts)
          && items.allSatisfy({
            isNeverNull(SQLTokens.tokens(of: $0)[...], within, facts) || isRequired($0)
          })
    else {
      throw NotIncremental(
        reason: """
          a NULL on either side of \(written) would decide about every row: leave it out by \
          IS NOT NULL, or write it with EXISTS
          """)
    }
    guard isCertain(operand, around),
      items.allSatisfy({ isCertain(SQLTokens.tokens(of: $0)[...], within) })
    else {
      throw NotIncremental(
        reason: "\(written) compares more than what rows have that are there: write EXISTS")
    }
    return "\(left.parenthesized) = (\(right.joined(separator: ", ")))"
  }

  /// The same where it need not be led anywhere: what the operand equals, as it is written within the
  /// subquery; nil: it cannot be written there.
  func narrowing(_ around: NameScopes) -> String? {
    guard let operand, let items = select.expandedColumns?.map(\.expression) else { return nil }
    let left: String
    if let name = operand.columnName {
      guard let written = around.written(name, within: select) else { return nil }
      left = written
    } else {
      guard ResolvedSelect.references(in: operand).isEmpty else { return nil }
      left = operand.sourceText
    }
    return "\(left) = (\(items.joined(separator: ", ")))"
  }

  /// Whether the subquery's WHERE leaves out the rows where a column is NULL.
  private func isRequired(_ item: String) -> Bool {
    guard let origin = select.origin(of: item), let predicate = select.syntax.predicate else {
      return false
    }
    return SQLTokens.tokens(of: predicate)[...].conjuncts.contains { condition in
      condition.columnsThatAreThere.contains { select.origin(of: $0) == origin }
    }
  }

  private func isCertain(_ side: ArraySlice<SQLToken>, _ names: NameScopes) -> Bool {
    let members = side.withoutParentheses.split { $0.isSymbol(",") }
    return names.isCertain(side, rejectingNull: members.allSatisfy { $0.columnName != nil })
  }

  /// Whether an expression is a column that makes numbers of whatever it is compared with. For others,
  /// the first of several SELECTs says how those of all are compared.
  private func isNumeric(
    _ expression: ArraySlice<SQLToken>, _ names: NameScopes, _ facts: SchemaFacts
  ) -> Bool {
    guard let name = expression.columnName, let (table, column) = names.requiredColumn(name) else {
      return false
    }
    if column.isSameIdentifier(as: table.rowIDColumn ?? "") { return true }
    let affinity = facts.comparison(of: column, in: table.name)?.affinity
    return affinity == .integer || affinity == .real || affinity == .numeric
  }

  /// Whether an expression is a column that is declared NOT NULL, or a rowid.
  private func isNeverNull(
    _ expression: ArraySlice<SQLToken>, _ names: NameScopes, _ facts: SchemaFacts
  ) -> Bool {
    guard let name = expression.columnName, let (table, column) = names.requiredColumn(name) else {
      return false
    }
    return column.isSameIdentifier(as: table.rowIDColumn ?? "")
      || facts.isNotNull(column, of: table.name)
  }
}

extension ArraySlice<SQLToken> {
  /// The columns that are not NULL where this condition holds.
  fileprivate var columnsThatAreThere: [ColumnName] {
    let tokens = withoutParentheses
    if tokens.count < count { return tokens.columnsThatAreThere }
    let last = suffix(3)
    if last.count == 3, zip(last, ["IS", "NOT", "NULL"]).allSatisfy({ $0.isWord($1) }) {
      return [dropLast(3).columnName].compactMap(\.self)
    }
    if self.last?.isWord("NOTNULL") == true {
      return [dropLast().columnName].compactMap(\.self)
    }
    guard rejectsNull, let (left, _, right) = comparison else { return [] }
    return [left.columnName, right.columnName].compactMap(\.self)
  }
}
