import Algorithms
import GRDB
import OrderedResults

// Queries whose records are groups of rows.
extension IncrementalAnalysis {
  mutating func groupShape() throws -> IncrementalShape {
    let groups = select.groupTerms.map { GroupTerm($0, in: select) }
    let (owners, determined) = tables(toldBy: groups)
    let unequal = try checkGroups(groups, determined)
    let rows = isOverGroups ? [] : possibleOwners.filter(owners.contains)
    let isOrdered = callsOrderedAggregate || !choiceIsCertain
    // A row of the groups' own leads to their records in another way.
    rowsOfGroups = rows.isEmpty ? determined : []
    do {
      if isOverGroups || isDistinct { try checkValues(unequal) }
      var attempt = self
      attempt.dependsOnOrder = !unequal.isEmpty || isOrdered
      return try rows.isEmpty
        ? attempt.requiredShape(ownedBy: groups) : attempt.rowShape(owners: rows)
    } catch let refusal as NotIncremental {
      guard !unequal.isEmpty || refusal.unsearched != nil && !rows.isEmpty,
        unequal.allSatisfy({ collation(of: $0) == .binary })
      else { throw refusal }
      var attempt = self
      attempt.dependsOnOrder = isOrdered
      attempt.termsWithoutReals = unequal
      do {
        return try attempt.requiredShape(ownedBy: groups)
      } catch let other as NotIncremental {
        throw unequal.isEmpty ? refusal : other
      }
    }
  }

  /// The shape whose owners are groups together that are alike in these terms, which are some of what they are made by.
  mutating func groupShape(ownedBy terms: [GroupTerm]) throws -> IncrementalShape {
    let groups = select.groupTerms.map { GroupTerm($0, in: select) }
    try checkValues(checkGroups(groups, tables(toldBy: groups).determined))
    if callsOrderedAggregate || !choiceIsCertain {
      let order = choice ?? "an aggregate depends on the order of a group's rows"
      throw NotIncremental(reason: "\(order), beside window functions")
    }
    ownersArePartitions = true
    return try requiredShape(ownedBy: terms)
  }

  /// The tables that have one row in each group: those whose keys are grouped by, and with these others.
  private func tables(toldBy groups: [GroupTerm]) -> (owners: Set<Int>, determined: Set<Int>) {
    let origins = Set(groups.compactMap(\.origin))
    let owners = determination.identified(by: origins)
    return (owners, determination.closure(of: owners, with: origins))
  }

  /// Finds out whether it is certain which groups there are, and what they show.
  ///
  /// - Returns: the terms of which equal values may look different.
  private mutating func checkGroups(
    _ groups: [GroupTerm], _ determined: Set<Int>
  ) throws -> [GroupTerm] {
    try checkNames(groups)
    // A row could go to another group without a change of its own.
    for group in groups where select.showsSubquery(group.expression) {
      throw NotIncremental(reason: "it groups by \(group.expression), which has a subquery")
    }
    let others = groups.filter {
      $0.tables.isEmpty || $0.looksAtFunction || !determined.isSuperset(of: $0.tables)
    }
    let unequal = others.filter(isOfEqualValues)
    try checkValues(others.filter { !unequal.contains($0) })
    choice = try bareColumn(groups, determined)
    choiceIsCertain =
      try choice == nil || bareColumn(groups, tablesOfGreatest(determined).union(determined)) == nil
    try completeKey(groups)
    return unequal
  }

  private mutating func requiredShape(ownedBy groups: [GroupTerm]) throws -> IncrementalShape {
    for group in groups { try checkIsRequired(group) }
    return try shape(ownedBy: groups)
  }

  /// The shape whose owners are the rows that are alike in these terms.
  mutating func shape(ownedBy groups: [GroupTerm]) throws -> IncrementalShape {
    var refusal: NotIncremental?
    for (members, keeping) in product(Members.Kind.allCases, Keeping.allCases) {
      var attempt = self
      do {
        return try attempt.shape(ownedBy: groups, members, keeping)
      } catch let error as NotIncremental {
        refusal = refusal ?? error
      }
      if refusal?.unsearched == nil { break }
    }
    throw refusal ?? NotIncremental(reason: "no group owns a record")
  }

  private mutating func shape(
    ownedBy groups: [GroupTerm], _ kind: Members.Kind, _ keeping: Keeping
  ) throws -> IncrementalShape {
    let asked = try recordOrder()
    let (order, terms) = (asked.record, asked.sql)
    let columns = groups.map { position(of: $0) }
    let condition = groups.map { "\($0.expression.parenthesized) IS ?" }.joined(separator: " AND ")
    let (members, records) = try groupRecords(condition, of: groups, kind, keeping)
    if dependsOnOrder { try checkOrderOfRows(records, order, terms, groups) }
    try checkOrderInSubqueries(records, terms)
    let (leads, contributions, keptRows) = try leads(
      owner: nil, ownerColumns: groups.map(\.expression.parenthesized))
    var plan = IncrementalPlan(
      owner: .group(columns: columns), collations: collations(of: groups), isGrouped: true,
      order: order,
      records: KeyedStatement(beforeKeys: records, afterKeys: ""), leads: leads,
      contributions: contributions, window: window(terms), pages: pages(terms),
      keptRows: keptRows)
    if let members {
      guard let position = leads[members.table].position else { throw members.refusal }
      plan.members = position
    }
    return shape(plan, terms, members?.refusal.reason)
  }

  /// Groups that are read by the rowids or keys of their rows, which are kept in memory.
  private struct Members {
    /// Rows of the tables that have what is grouped by; or else of others, of which each row of a group has
    /// one: those that no LEFT JOIN leaves out. The rows of fewer tables may then be followed.
    enum Kind: CaseIterable { case own, others }

    let table: Int
    /// Why SQLite would not find the rows by what they are grouped by.
    let refusal: NotIncremental
  }

  /// The records of one group, whose values are the last parameters without names.
  private mutating func groupRecords(
    _ condition: String, of groups: [GroupTerm], _ kind: Members.Kind, _ keeping: Keeping
  ) throws -> (Members?, String) {
    do {
      return (nil, try searchedRecords(condition, of: groups, keeping))
    } catch let refusal as NotIncremental {
      let tables = groups.reduce(into: Set()) { $0.formUnion($1.tables) }
      if let choice, !choiceIsCertain {
        throw NotIncremental(reason: "\(choice); \(refusal.reason)")
      }
      if dependsOnOrder { throw refusal }
      let candidates = select.tables.indices.filter {
        kind == .own ? tables.contains($0) : !tables.contains($0) && !select.tables[$0].isNullable
      }
      for table in candidates where select.tables[table].storage == nil {
        guard let listed = facts.listCondition(select.tables[table], in: "?") else { continue }
        let condition = "\(listed) AND \(condition)"
        do {
          let records = try searchedRecords(condition, of: groups, keeping)
          return (Members(table: table, refusal: refusal), records)
        } catch is NotIncremental {}
      }
      throw refusal
    }
  }

  /// The records under a condition by which SQLite searches.
  private mutating func searchedRecords(
    _ condition: String, of groups: [GroupTerm], _ keeping: Keeping
  ) throws -> String {
    var attempt = self
    let check = { (analysis: Self) in
      // What a SELECT over groups or partitions asks of them takes no search.
      try analysis.checkSearches(
        analysis.isOverParts
          ? analysis.narrowed.restricted(to: condition).subquery(requiring: nil)
          : analysis.statement(of: analysis.narrowed, condition: condition), of: groups)
    }
    let owners = groups.reduce(into: Set()) { $0.formUnion($1.tables) }
    try attempt.keepRows(keeping, besides: owners, until: check)
    self = attempt
    return statement(of: narrowed, condition: condition)
  }

  private func checkSearches(_ sql: String, of groups: [GroupTerm]) throws {
    do {
      try checkSearches(sql)
    } catch let refusal as NotIncremental {
      let expressions = groups.filter { $0.origin == nil && !$0.looksAtFunction }
        .map(\.expression)
      if expressions.isEmpty { throw refusal }
      throw NotIncremental(
        reason: """
          \(refusal.reason); an index on (\(expressions.joined(separator: ", "))) may help
          """, unsearched: refusal.unsearched)
    }
  }

  /// The column that shows what is grouped by, or else a hidden one.
  private mutating func position(of group: GroupTerm) -> Int {
    for position in 0..<list.count where shows(group, at: position) { return position }
    return list.append(hidden: isOverParts ? nameOutside(of: group) ?? "NULL" : group.expression)
  }

  /// By which name a SELECT over groups or partitions knows what makes these; nil: by none.
  func nameOutside(of group: GroupTerm) -> String? {
    let source = shown.sources[0]
    let columns = source.columns.map { "\(source.name.quotedIdentifier).\($0.quotedIdentifier)" }
    return (shown.hiddenColumns.map(\.expression) + columns).first { isOf($0, group) }
  }

  func shows(_ group: GroupTerm, at position: Int) -> Bool {
    expression(ofColumn: position).map { isOf($0, group) } == true
  }

  private func isOf(_ expression: String, _ group: GroupTerm) -> Bool {
    shown.expressionOverRows(expression).map { GroupTerm($0, in: select) } == group
  }

  /// In a longer expression, too, a name may be that of a result column, which is not there where
  /// changed rows are led to groups.
  func checkNames(_ groups: [GroupTerm]) throws {
    let aliases = select.syntax.columns.compactMap(\.possibleAlias)
    for group in groups where group.origin == nil {
      for name in ResolvedSelect.references(in: SQLTokens.tokens(of: group.expression)[...])
      where name.qualifier == nil && aliases.contains(where: name.name.isSameIdentifier)
        && !select.sources.contains(where: { $0.mayOwn(name) })
      {
        throw NotIncremental(
          reason: "it groups by more than a row: \(group.expression) looks at \(name.name)")
      }
    }
  }

  /// Values that GROUP BY takes for equal must look the same, or it would depend on SQLite's plan
  /// which of them a group shows.
  func checkValues(_ groups: [GroupTerm]) throws {
    for group in groups {
      guard let origin = group.origin else {
        try checkValues(of: group.expression)
        continue
      }
      let table = select.tables[origin.table].name
      guard let comparison = facts.comparison(of: origin.name, in: table) else { continue }
      if comparison.affinity == .blob {
        throw NotIncremental(
          reason: """
            \(group.expression) is a column without a type: 1 and 1.0 would be one group, and which \
            of them it shows is not certain: declare a type, or write CAST(… AS TEXT)
            """)
      }
      if comparison.collation != "BINARY" {
        throw NotIncremental(
          reason: """
            it groups by \(group.expression) under the collation \(comparison.collation): which of \
            the equal values a group shows is not certain\(comparison.collation.remedy)
            """)
      }
    }
  }

  func checkIsRequired(_ group: GroupTerm) throws {
    let isOfFunction = select.sources(in: group.expression, allowingAliases: false)
      .contains { select.sources[$0].mayLackFunction }
    guard isOfFunction || group.tables.contains(where: { select.tables[$0].isNullable }) else {
      return
    }
    throw NotIncremental(
      reason: "it groups by \(group.expression), which a LEFT JOIN may leave out")
  }

  private func checkValues(of expression: String) throws {
    let tokens = SQLTokens.tokens(of: expression)
    if tokens.contains(where: { $0.isWord("COLLATE") }) {
      throw NotIncremental(
        reason: """
          it groups by \(expression): which of the equal values a group shows is not certain\
          \(tokens.last?.name?.uppercased().remedy ?? "")
          """)
    }
    guard tokens[...].isExactValue else {
      throw NotIncremental(
        reason: """
          it groups by \(expression), of which 1 and 1.0 may be one group, and which of them it \
          shows is not certain: write CAST(… AS TEXT) or AS INTEGER
          """)
    }
  }

  /// A column outside of aggregates has one value in a group only where the group has one row of
  /// its table, or is made by it. Else it shows that of the first row, or of the first that has the only
  /// `min` or `max`: https://www.sqlite.org/lang_select.html#bareagg
  ///
  /// - Returns: why it is the order of the rows that decides what a column shows; nil: it does not.
  private func bareColumn(_ terms: [GroupTerm], _ determined: Set<Int>) throws -> String? {
    var choice: String?
    let groups = Set(terms.compactMap(\.origin))
    let expressions = terms.filter { $0.origin == nil }
    guard items != nil, let own = select.expandedColumns else {
      throw NotIncremental(reason: "what * stands for is not certain")
    }
    let around = isOverGroups ? [] : list.hidden + candidate.syntax.order
    let having = [select.syntax.having].compactMap(\.self)
    for expression in own.map(\.expression) + around + having {
      let tokens = expressions.reduce(locality.functions.withoutAggregates(expression)) {
        $1.removed(from: $0)
      }
      for name in ResolvedSelect.references(in: tokens) {
        if select.sources.contains(where: { $0.mayOwn(name) && $0.showsSubquery(name) }) {
          throw NotIncremental(reason: "a subquery in a view is beside GROUP BY: \(name.name)")
        }
        if let origin = select.origin(of: name) {
          if groups.contains(origin) || determined.contains(origin.table) { continue }
        }
        for index in select.sources.indices where select.sources[index].mayOwn(name) {
          let isDetermined = determined.isSuperset(of: select.tables(ofSource: index))
          if isDetermined, select.sources[index].functionIDs.isEmpty { continue }
          choice = choice ?? "\(name.name) may have several values in a group: \(expression)"
        }
      }
    }
    if let refusal = subqueries.groupRefusal { throw refusal }
    for column in subqueries.groupColumns
    where !groups.contains(column) && !determined.contains(column.table) {
      throw NotIncremental(
        reason: "\(column.name) may have several values in a group, and a subquery looks at it")
    }
    return choice
  }

  /// The key is unique if it has the terms of GROUP BY, or identifies rows that determine them.
  mutating func completeKey(_ groups: [GroupTerm]) throws {
    func missing() -> [GroupTerm] {
      let known = determination.closure(of: determination.identified(by: origins(key)))
      return groups.filter { group in
        !key.contains { shows(group, at: $0) }
          && (group.tables.isEmpty || group.looksAtFunction
            || !known.isSuperset(of: group.tables))
      }
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

extension String {
  /// What to write in the place of a collation under which values are equal that look different.
  fileprivate var remedy: String {
    let functions = ["NOCASE": "lower", "RTRIM": "rtrim"]
    return functions[self].map { ": write GROUP BY \($0)(…)" } ?? ""
  }
}
