import OrderedResults

// What depends on the order of a group's rows: group_concat, and which of several equal values a group
// shows, which is that of its first row.
//
// In that order SQLite reads them where it does not sort: that of an index. So it is certain where SQLite
// finds the rows of one group by the same index as those of all.
extension IncrementalAnalysis {
  var callsOrderedAggregate: Bool {
    let syntax = select.syntax
    let others = [syntax.having].compactMap(\.self) + syntax.order + list.hidden
    return (syntax.columns.map(\.text) + others).contains {
      locality.dependsOnOrder($0, of: select)
    }
  }

  /// The tables whose row in a group is the one, or goes with the one, that has the only `max` or `min`: of a key, which no
  /// two rows have.
  func tablesOfGreatest(_ determined: Set<Int>) -> Set<Int> {
    guard !isOverGroups, !list.hidden.contains(where: locality.functions.callsAggregate),
      let greatest = GreatestOfGroups(select.syntax, locality.functions),
      let origin = select.origin(of: greatest.argument),
      // Rows that a LEFT JOIN finds none for have no value, and there may be several.
      !select.tables[origin.table].isNullable,
      facts.tellsRowsApart(origin.name, of: select.tables[origin.table])
    else { return [] }
    return determination.closure(of: determined.union([origin.table]))
  }

  /// The collation under which a term's values are compared, if SQLite has it and it is certain.
  func collation(of group: GroupTerm) -> Collation? {
    (try? collationName(of: group.expression, 0)).flatMap(Collation.init)
  }

  /// Whether it is known which values are equal though they look different: 1 and 1.0, or what a
  /// collation takes for equal.
  func isOfEqualValues(_ group: GroupTerm) -> Bool {
    guard encoding == .utf8, let collation = collation(of: group) else { return false }
    guard let origin = group.origin else {
      return !SQLTokens.tokens(of: group.expression)[...].isExactValue
    }
    let affinity = facts.comparison(of: origin.name, in: select.tables[origin.table].name)?.affinity
    return affinity == .blob || collation != .binary
  }

  /// How the values of groups are compared; none: they look the same where they are equal.
  func collations(of groups: [GroupTerm]) -> [Collation] {
    groups.contains { isOfEqualValues($0) && !termsWithoutReals.contains($0) }
      ? groups.map { collation(of: $0) ?? .binary } : []
  }

  /// What tells, behind the columns of a group, whether it is not found again by these as they are read, or
  /// whether equal values of theirs may look different; none: neither may be.
  func lossColumn(of joined: Joined) -> [String] {
    guard joined.ownersAreGroups else { return [] }
    let columns = joined.ownerColumns
    let terms = select.groupTerms.map { GroupTerm($0, in: select) }
    var losses = encoding == .utf8 ? [] : columns.map(TextEncoding.lostBytes(of:))
    for (column, term) in zip(columns, terms) where termsWithoutReals.contains(term) {
      losses.append(
        """
        CASE WHEN typeof(\(column)) = 'real' AND \(column) = CAST(\(column) AS INTEGER) THEN 1 END
        """)
    }
    return losses.isEmpty ? [] : ["coalesce(\((losses + ["NULL"]).joined(separator: ", ")))"]
  }

  /// - Throws: ``NotIncremental`` where the rows of a group may have another order if it is read alone.
  func checkOrderOfRows(
    _ records: String, _ order: RecordOrder, _ terms: [String], _ groups: [GroupTerm] = [],
    owner: Int? = nil
  ) throws(NotIncremental) {
    let choice = choiceIsCertain ? nil : choice
    let effect = choice.map { "\($0): it shows that of the first row" } ?? "it depends on the order"
    let refusal = NotIncremental(
      reason: """
        \(effect) of a group's rows, which is not certain: an index on what it groups by may \
        help, if ORDER BY does not read it from its end
        """)
    let syntax = candidate.syntax
    let isOfTables = select.sources.allSatisfy { if case .table = $0.body { true } else { false } }
    // By which of its columns a primary key falls is not looked at: for what it groups by, SQLite may read
    // one from its end.
    let grouped = select.groupTerms.reduce(into: Set()) {
      $0.formUnion(GroupTerm($1, in: select).tables)
    }
    let haveRowIDs = grouped.allSatisfy { select.tables[$0].rowID != nil }
    guard isOfTables, haveRowIDs, !syntax.sources.contains(where: \.isWrittenFirst), !isDistinct,
      !isOverGroups,
      !readsGroupsBackwards(order)
    else { throw refusal }
    let orders = [plainStatement, statement(order: terms), records].map { sql in
      db.orderOfGroupedRows(in: sql).map(withoutRowsOfGroups)
    }
    guard let first = orders[0], let alone = orders[2], first == orders[1], !first.isEmpty,
      source(firstIn: first).map({ $0.tables[0].rowID != nil }) == true
    else { throw refusal }
    guard let owner else {
      if first == alone { return }
      throw refusal
    }
    // There is one row of the owner, by whatever index it is found.
    let name = select.sources.indices.first { select.tables(ofSource: $0).contains(owner) }
      .map { select.sources[$0].name }
    guard first.dropFirst() == alone.dropFirst(),
      [first, alone].allSatisfy({ source(firstIn: $0)?.name == name })
    else { throw refusal }
  }

  /// The tables that SQLite reads one after the other without those of which a group has one row, wherever they stand: they
  /// make no difference for the order of the others' rows.
  private func withoutRowsOfGroups(_ order: [String]) -> [String] {
    var rest = order.filter { text in
      !select.sources.indices.contains { index in
        let tables = select.tables(ofSource: index)
        return tables.allSatisfy(rowsOfGroups.contains) && !tables.isEmpty
          && isRead(select.sources[index], by: text)
      }
    }
    // What is searched for in the first one does not count.
    if let first = rest.first { rest[0] = String(first.prefix { $0 != "(" }).trimmingSpaces }
    return rest
  }

  /// The value of a subquery may depend on the order in which SQLite reads its rows, as that of
  /// `json_group_array` does. That is the same wherever it goes about the subquery in the same way.
  ///
  /// - Throws: ``NotIncremental`` where it does not for a few records.
  func checkOrderInSubqueries(_ records: String, _ terms: [String]) throws(NotIncremental) {
    let ties = kept.isEmpty ? nil : subqueries.tieRefusal
    guard let refusal = subqueries.orderRefusal ?? ties else { return }
    let plain = candidate.whole.map { $0.sql(with: []) } ?? plainStatement
    let plans = [plain, statement(order: terms)].map { db.plansOfValues(in: $0) }
    let few = db.plansOfValues(in: records, lookingUp: subqueries.lookups)
    guard let first = plans[0], first == plans[1], first == few else { throw refusal }
  }

  /// The query as others would run it.
  private var plainStatement: String {
    let syntax = candidate.syntax
    return DeclaredParts.select(
      shown.columns.map(\.text), from: shown.from(asWritten: true),
      conditions: [syntax.predicate].compactMap(\.self), groupBy: syntax.groupBy,
      having: syntax.having, windows: syntax.windows, order: syntax.order)
  }

  /// What SQLite reads first.
  private func source(firstIn order: [String]) -> ResolvedSource? {
    select.sources.first { isRead($0, by: order[0]) }
  }

  private func isRead(_ source: ResolvedSource, by step: String) -> Bool {
    step == source.name || step.hasPrefix("\(source.name) USING ")
  }

  /// Whether ORDER BY is what it groups by, and descends: then SQLite reads the groups from their end.
  private func readsGroupsBackwards(_ order: RecordOrder) -> Bool {
    let count = select.groupTerms.count
    let own = order.terms.dropFirst(candidate.sectionTerms.count)
    let groups = select.groupTerms.map { GroupTerm($0, in: select) }
    return [order.terms.prefix(count), own.prefix(count)].contains { terms in
      terms.contains(where: \.isDescending)
        && terms.allSatisfy { term in groups.contains { shows($0, at: term.column) } }
    }
  }
}
