import OrderedResults

// Windows of all rows in the order of the records, whose functions tell the place of each.
extension IncrementalAnalysis {
  /// Records of rows, read by themselves. What place each has is counted, from those on that came or went.
  ///
  /// - Throws: ``NotIncremental`` where a window has another order, or a function tells something else.
  mutating func placesShape() throws -> IncrementalShape {
    guard !isOverParts, candidate.resultExpressions.isEmpty else {
      throw NotIncremental(reason: "its places are those of a subquery")
    }
    let columns = try placeColumns()
    candidate.syntax.order = try orderOfRows()
    let asked = try recordOrder()
    let shown = Set(columns.map(\.column))
    guard !asked.terms.contains(where: { shown.contains($0.column) }) else {
      throw NotIncremental(reason: "its key or its sections are places")
    }
    let places = try columns.map { column, function in
      PlaceColumn(
        column: column, kind: try function.place,
        terms: try terms(of: function.window, among: asked))
    }
    var shape = try rowShape()
    shape.plan.places = places
    shape.reason += "; where that makes the places of others different, these are counted"
    return shape
  }

  /// The columns that show the place of a record, each by itself.
  private func placeColumns() throws -> [(column: Int, function: WindowFunction)] {
    guard let items,
      !list.hidden.contains(where: { SQLTokens.tokens(of: $0)[...].callsWindowFunction })
    else { throw NotIncremental(reason: "it computes with places") }
    return try items.enumerated().compactMap { column, item in
      guard SQLTokens.tokens(of: item.expression)[...].callsWindowFunction else { return nil }
      guard let function = windows.call(item.expression), function.isRank else {
        throw NotIncremental(reason: "\(item.expression) is more than the place of its row")
      }
      return (column, function)
    }
  }

  /// The order of the records without their places: by what these are in the order of.
  private func orderOfRows() throws -> [String] {
    var attempt = self
    let asked = try attempt.askedOrder()
    return try attempt.rowOrder(asked).map(\.sql)
  }

  /// How many terms of the order tell which rows are equal for a window: all, where none are.
  private func terms(of window: WindowDefinition, among asked: AskedOrder) throws -> Int {
    let isTotal = self.isTotal(window)
    let count = isTotal ? asked.terms.count : window.order.count
    guard window.partition.isEmpty, !window.order.isEmpty, count <= asked.terms.count,
      case let order = try rowOrder(
        AskedOrder(
          terms: Array(asked.terms.prefix(count)), sql: Array(asked.sql.prefix(count)),
          isDescending: false)),
      isTotal || order.count == count, zip(window.order, order).allSatisfy(areSame)
    else { throw NotIncremental(reason: "a window has another order than the records") }
    return count
  }
}

extension WindowFunction {
  fileprivate var place: PlaceColumn.Kind {
    get throws {
      switch name.lowercased() {
      case "row_number": .number
      case "rank": .rank
      case "dense_rank": .denseRank
      default: throw NotIncremental(reason: "\(name)() is no place")
      }
    }
  }
}
