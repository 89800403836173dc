import Algorithms

// Queries of the rows that have the greatest, or the least, value of their group: the owner of a record is the group.
extension IncrementalAnalysis {
  mutating func shape(of extreme: GroupExtreme) throws -> IncrementalShape {
    guard !select.isGrouped, windows.functions.isEmpty, numberOfExtreme != nil, !isOverParts else {
      throw NotIncremental(reason: "it makes more of the rows than it shows of each group")
    }
    if let predicate = extreme.predicate { try locality.check(predicate) }
    let groups = extreme.groupBy.map { GroupTerm(extreme.qualified($0), in: select) }
    for group in groups {
      if !isOfEqualValues(group) { try checkValues([group]) }
      try checkIsRequired(group)
    }
    if extreme.showsGroups { try completeKey(groups) }
    var (shape, looksAtGroup) = try shape(of: extreme, ownedBy: groups)
    let condition = groups.map { "\($0.expression) IS ?" }.joined(separator: " AND ")
    if shape.plan.members == nil, !looksAtGroup,
      db.isReadInOrder(extreme.ordered(inGroup: condition))
    {
      shape.plan.isGrouped = false
    } else {
      shape.reason += index(for: extreme, groups).map { "; what may help: \($0.sql)" } ?? ""
    }
    if let column = extreme.completion?.column { shape.noteWindows(completedBy: [column]) }
    return shape
  }

  /// The shape, and whether all rows of a group are looked at.
  private func shape(
    of extreme: GroupExtreme, ownedBy groups: [GroupTerm]
  ) throws -> (IncrementalShape, looksAtGroup: Bool) {
    let found = Result { () throws in
      var attempt = self
      return try attempt.shape(ownedBy: groups)
    }
    if case .success(let shape) = found, shape.plan.members == nil { return (shape, false) }
    var attempt = self
    attempt.candidate.extreme?.looksAtGroup = true
    if let shape = try? attempt.shape(ownedBy: groups), shape.plan.members == nil {
      return (shape, true)
    }
    return (try found.get(), false)
  }

  /// The index that has the rows of a group in the order in which they are looked for.
  private func index(for extreme: GroupExtreme, _ groups: [GroupTerm]) -> MissingIndex? {
    guard let number = numberOfExtreme else { return nil }
    let order = extreme.orderedColumns.map { $0.lowercased() }
    // The rowid is in every index.
    let columns = (groups.compactMap(\.origin?.name) + order).uniqued()
      .filter { $0 != select.tables[number].rowIDColumn?.lowercased() }
    return MissingIndex(
      table: extreme.table,
      columns: columns.map { facts.declaredName(of: $0, in: extreme.table) })
  }

  /// The number of the table whose rows are compared.
  var numberOfExtreme: Int? {
    guard let extreme = candidate.extreme,
      let source = select.sources.firstIndex(where: { $0.isNamed(extreme.source) }),
      case .table = select.sources[source].body
    else { return nil }
    return select.firstTable(ofSource: source)
  }
}

extension ResolvedSelect {
  /// A table of FROM with all of its rows.
  func alone(table number: Int) -> ResolvedSelect {
    let index = sources.indices.first { tables(ofSource: $0) == number..<number + 1 }
    var source = index.map { sources[$0] }
    source?.constraint = .none
    return ResolvedSelect(
      syntax: SelectSyntax(columns: [], sources: []), sources: [source].compactMap(\.self))
  }
}
