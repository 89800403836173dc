// Queries with window functions: the owner of a record is its partition.
extension IncrementalAnalysis {
  /// A condition on what every window is partitioned by leaves partitions whole or takes them out, so
  /// that the windows of those which are read look at the same rows as in the query.
  mutating func windowShape() throws -> IncrementalShape {
    for function in windows.functions { try checkIsCertain(function) }
    let owners: [GroupTerm]
    do {
      owners = try commonPartition()
    } catch let refusal as NotIncremental {
      var (first, all) = (self, self)
      do {
        return try first.prefixShape()
      } catch let lack as NotIncremental {
        if let shape = try? all.runningShape() { return shape }
        throw lack.unsearched == nil ? refusal : lack
      }
    }
    return try shape(ownedBy: owners)
  }

  /// The columns that all windows are partitioned by, as far as an owner can be told by them.
  private func commonPartition() throws -> [GroupTerm] {
    var columns: [GroupTerm]?
    for function in windows.functions {
      let terms = function.window.partition.map { GroupTerm($0, in: select) }
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
    let names = possibleOwners.first.map { select.tables[$0].identityNames } ?? ["rowid"]
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

  /// Whether no two rows of a partition are equal for ORDER BY.
  func isTotal(_ window: WindowDefinition) -> Bool {
    let terms = window.partition + window.order.filter { $0.collation == nil }.map(\.expression)
    let known = determination.identified(by: Set(terms.compactMap(select.origin(of:))))
    return determination.closure(of: known).count == select.tables.count
      && select.functionIDs.isEmpty
  }

  /// Whether values of a column are equal only where they look the same.
  private func isExact(_ expression: ArraySlice<SQLToken>) -> Bool {
    (try? checkValues([GroupTerm(expression.sourceText, in: select)])) != nil
  }
}
