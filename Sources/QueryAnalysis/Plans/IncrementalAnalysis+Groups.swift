import GRDB
import OrderedResults

// Queries whose records are groups of rows.
extension IncrementalAnalysis {
  /// A term of GROUP BY.
  private struct GroupColumn {
    let expression: String
    let origin: BaseColumn
  }

  mutating func groupShape() throws -> IncrementalShape {
    let groups = try zip(select.groupTerms, select.syntax.groupBy).map(groupColumn)
    let origins = Set(groups.map(\.origin))
    let owners = determination.identified(by: origins)
    let determined = determination.closure(of: owners)
    try checkValues(groups.filter { !determined.contains($0.origin.table) })
    try checkBareColumns(origins, determined)
    try completeKey(groups, determined)
    let rows = possibleOwners.filter(owners.contains)
    if !rows.isEmpty, !isOverGroups { return try rowShape(owners: rows) }

    for group in groups where select.tables[group.origin.table].isNullable {
      throw NotIncremental(
        reason: "it groups by \(group.expression), which a LEFT JOIN may leave out")
    }
    let (order, terms) = try recordOrder()
    let columns = groups.map { position(of: $0) }
    let condition = groups.map { "\($0.expression) IS ?" }.joined(separator: " AND ")
    let records = statement(predicate: subqueries.narrowedPredicate, condition: condition)
    try checkSearches(isOverGroups ? groupSearch(condition) : records)
    let (leads, contributions) = try leads(
      owner: nil, ownerColumns: groups.map(\.expression))
    let plan = IncrementalPlan(
      owner: .group(columns: columns), isGrouped: true, order: order,
      records: KeyedStatement(beforeKeys: records, afterKeys: ""), leads: leads,
      contributions: contributions, window: window(terms), pages: pages(terms))
    return shape(plan, terms)
  }

  /// The groups alone, without what a SELECT over them asks of them: that takes no search.
  private func groupSearch(_ condition: String) -> String {
    let predicate = subqueries.narrowedPredicate?.parenthesized
    return select.groups(where: [predicate, condition].compactMap(\.self)).subquery(requiring: nil)
  }

  /// The column that shows what is grouped by, or else a hidden one.
  private mutating func position(of group: GroupColumn) -> Int {
    let hidden = shown.hiddenColumns.first {
      shown.origin(of: $0.expression) == group.origin
    }
    return position(
      of: group.origin, or: isOverGroups ? hidden?.expression ?? "" : group.expression)
  }

  private func groupColumn(_ expression: String, writtenAs text: String) throws -> GroupColumn {
    guard let origin = select.origin(of: expression) else {
      throw NotIncremental(reason: "it groups by more than a column: \(text)")
    }
    return GroupColumn(expression: expression, origin: origin)
  }

  /// Values that GROUP BY takes for equal must look the same, or it would depend on SQLite's plan
  /// which of them a group shows.
  private func checkValues(_ groups: [GroupColumn]) throws {
    for group in groups {
      let table = select.tables[group.origin.table].name
      guard let comparison = facts.comparison(of: group.origin.name, in: table) else { continue }
      if comparison.affinity == .blob {
        throw NotIncremental(
          reason: """
            \(group.expression) is a column without a type: 1 and 1.0 would be one group, and which \
            of them it shows is not certain
            """)
      }
      if comparison.collation != "BINARY" {
        throw NotIncremental(
          reason: """
            it groups by \(group.expression) under the collation \(comparison.collation): which of \
            the equal values a group shows is not certain
            """)
      }
    }
  }

  /// A column outside of aggregates has one value in a group only where the group has one row of
  /// its table, or is made by it.
  private func checkBareColumns(_ groups: Set<BaseColumn>, _ determined: Set<Int>) throws {
    guard items != nil, let own = select.expandedColumns else {
      throw NotIncremental(reason: "what * stands for is not certain")
    }
    let around = isOverGroups ? [] : list.hidden + candidate.syntax.order
    let having = [select.syntax.having].compactMap(\.self)
    for expression in own.map(\.expression) + around + having {
      let tokens = locality.functions.withoutAggregates(expression)
      for name in ResolvedSelect.references(in: tokens) {
        if let origin = select.origin(of: name) {
          if groups.contains(origin) || determined.contains(origin.table) { continue }
        }
        for index in select.sources.indices where select.sources[index].mayOwn(name) {
          guard determined.isSuperset(of: select.tables(ofSource: index)) else {
            throw NotIncremental(
              reason: "\(name.name) may have several values in a group: \(expression)")
          }
        }
      }
    }
    guard let outside = subqueries.groupColumns else {
      throw NotIncremental(
        reason: "a subquery beside what it groups by compares more than integers")
    }
    for column in outside where !groups.contains(column) && !determined.contains(column.table) {
      throw NotIncremental(
        reason: "\(column.name) may have several values in a group, and a subquery looks at it")
    }
  }

  /// The key is unique if it has the terms of GROUP BY, or identifies rows that determine them.
  private mutating func completeKey(_ groups: [GroupColumn], _ determined: Set<Int>) throws {
    func missing() -> [GroupColumn] {
      let shown = origins(key)
      let known = determination.closure(of: determination.identified(by: shown))
      return groups.filter { !shown.contains($0.origin) && !known.contains($0.origin.table) }
    }
    while candidate.keyIsFree, let group = missing().first {
      key.append(position(of: group))
      let name = SQLTokens.tokens(of: group.expression).columnName?.name
      addedKeyNames.append(name ?? group.expression)
    }
    guard missing().isEmpty else {
      throw NotIncremental(reason: "several records may have one key")
    }
  }
}
