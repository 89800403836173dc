// Queries with window functions: the owner of a record is its partition, or its group.
extension IncrementalAnalysis {
  /// A condition on what every window is partitioned by leaves partitions whole or takes them out, so
  /// that the windows of those which are read look at the same rows as in the query.
  mutating func windowShape() throws -> IncrementalShape {
    for function in windows.functions { try checkIsCertain(function) }
    var shape = try select.isGrouped ? groupWindowShape() : rowWindowShape()
    if let keyOfWindows { shape.noteWindows(completedBy: keyOfWindows) }
    return shape
  }

  /// Groups that are read again with all of their partition, or in an order, whose windows look at all of them.
  private mutating func groupWindowShape() throws -> IncrementalShape {
    do {
      var attempt = self
      return try attempt.groupShape(ownedBy: commonPartitionOfGroups())
    } catch let refusal as NotIncremental {
      if hasWindowsWithin { throw refusal }
      takeOrderOfWindow()
      try completeKey(select.groupTerms.map { GroupTerm($0, in: select) })
      do {
        return try runningShape()
      } catch let other as NotIncremental {
        throw windows.functions.contains { !$0.window.partition.isEmpty } ? refusal : other
      }
    }
  }

  /// What groups are made by that all windows are partitioned by, as far as an owner can be told by it.
  private func commonPartitionOfGroups() throws -> [GroupTerm] {
    let groups = select.groupTerms.map { GroupTerm($0, in: select) }
    let common = windows.functions.reduce(groups) { common, function in
      let partition = windowed.termsOverRows(function.window.partition)
      return common.filter(partition.contains)
    }
    guard !common.isEmpty else {
      throw NotIncremental(
        reason: """
          a window is not partitioned by what is grouped by: PARTITION BY a term of GROUP BY in each OVER makes \
          that what is read again
          """)
    }
    return try certainOwners(among: common)
  }

  private mutating func rowWindowShape() throws -> IncrementalShape {
    let owners: [GroupTerm]
    do {
      owners = try commonPartition()
    } catch let refusal as NotIncremental {
      var (first, whole) = (self, self)
      first.takeOrderOfWindow()
      var all = first
      do {
        return try first.prefixShape()
      } catch let lack as NotIncremental {
        if let shape = try? all.runningShape() { return shape }
        if let owners = try? commonPartition(with: columnsOfOneValue),
          var shape = try? whole.shape(ownedBy: owners)
        {
          shape.plan.isOnePartition = true
          return shape
        }
        throw lack.unsearched == nil ? refusal : lack
      }
    }
    return try shape(ownedBy: owners)
  }

  /// Has the records in the order of a window where they have none, as SQLite returns them, or begin that
  /// order: of the first of those whose order has most terms.
  private mutating func takeOrderOfWindow() {
    guard candidate.leadingSection == nil, !isOverParts || isOverGroups,
      let order = windows.functions.map(\.window.order).max(by: { $0.count < $1.count }),
      !order.contains(where: \.isNumber)
    else { return }
    if !candidate.syntax.order.isEmpty {
      guard let asked = try? orderOfRows(), asked.count < order.count,
        zip(asked, order).allSatisfy(areSame)
      else { return }
    }
    candidate.syntax.order = order.map(\.text)
  }

  /// The columns that WHERE compares with one value: with these, too, each window is partitioned.
  private var columnsOfOneValue: [String] {
    guard let predicate = select.syntax.predicate else { return [] }
    return SQLTokens.tokens(of: predicate)[...].conjuncts
      .compactMap { $0.columnOfOneValue?.column.sourceText }
  }

  /// The columns that all windows are partitioned by, as far as an owner can be told by them; `others` are those
  /// that they are partitioned by besides.
  private func commonPartition(with others: [String] = []) throws -> [GroupTerm] {
    var columns: [GroupTerm]?
    for function in windows.functions {
      let terms = (function.window.partition + others).map { GroupTerm($0, in: select) }
        .filter { term in
          // What a subquery finds may be another for a row that left.
          !term.tables.isEmpty && !select.showsSubquery(term.expression)
            && (try? checkNames([term])) != nil
            && (!isOverParts || nameOutside(of: term) != nil)
        }
      columns = columns.map { $0.filter(terms.contains) } ?? terms
    }
    guard let columns, !columns.isEmpty else {
      throw NotIncremental(
        reason: """
          a window is not partitioned by a column\(isOverParts ? " that its subquery shows" : ""): \
          PARTITION BY one in each OVER makes that what is read again; the places of all rows, as rank(), and \
          running sums are counted where the records are in the order of the window
          """)
    }
    return try certainOwners(among: columns)
  }

  /// Those of some terms of which equal values look the same, and which all rows have.
  private func certainOwners(among columns: [GroupTerm]) throws -> [GroupTerm] {
    var refusal: (any Error)?
    let owners = columns.filter { column in
      do {
        if !isOfEqualValues(column) { try checkValues([column]) }
        try checkIsRequired(column)
        return true
      } catch {
        refusal = refusal ?? error
        return false
      }
    }
    if owners.isEmpty, let refusal { throw refusal }
    return owners
  }

  /// Which of the rows that ORDER BY takes for equal comes first is SQLite's choice, and may change
  /// with its plan.
  private func checkIsCertain(_ function: WindowFunction) throws {
    if isTotal(function.window) { return }
    let names =
      select.isGrouped
      ? select.groupTerms
      : possibleOwners.first.map { select.tables[$0].identityNames } ?? ["rowid"]
    let first = names.joined(separator: ", ")
    guard function.hasOneValue else {
      throw NotIncremental(
        reason: """
          \(function.name)() depends on the order of rows that the ORDER BY of its window may take for \
          equal: end that with a key, as in ORDER BY …, \(first)
          """)
    }
    if function.showsOneOfEqualValues, !isExact(function.arguments) {
      throw NotIncremental(
        reason: """
          which of several equal values \(function.name)() shows is not certain: end the ORDER BY of its \
          window with a key, as in ORDER BY …, \(first)
          """)
    }
  }

  /// Whether no two rows, or groups, of a partition are equal for ORDER BY.
  func isTotal(_ window: WindowDefinition) -> Bool {
    select.isGrouped
      ? windowed.isTotalForGroups(window) : select.isTotal(window, determination)
  }

  /// Whether values of a column are equal only where they look the same.
  private func isExact(_ expression: ArraySlice<SQLToken>) -> Bool {
    (try? checkValues([GroupTerm(expression.sourceText, in: select)])) != nil
  }
}

extension IncrementalShape {
  /// Its windows have a key at the end of ORDER BY, which was not written.
  mutating func noteWindows(completedBy key: [String]) {
    plan.completesWindows = true
    reason +=
      "; rows that the ORDER BY of a window takes for equal come in the order of \(key.joined(separator: ", "))"
  }
}
