/// Which of a query's orders sort by one of its columns before anything else.
package struct ColumnSorting: Sendable, Equatable {
  package let column: String
  /// The names of orders; nil: none sorts like that.
  package var ascending: String?
  package var descending: String?
}

extension QueryDefinition {
  /// By which columns the ``orders`` sort first, in the order of the columns.
  ///
  /// A term that is anything but the name of a column sorts by none. Where several orders sort by one
  /// column alike, the first of them does. O(o c), o orders and c columns.
  ///
  /// - Parameter columns: those of the result.
  /// - Returns: those of them by which an order sorts.
  package func sorting(by columns: [String]) -> [ColumnSorting] {
    columns.compactMap { column in
      var sorting = ColumnSorting(column: column)
      for order in orders.reversed() {
        guard let term = order.terms.first.map(OrderTerm.init),
          term.columnName?.isSameIdentifier(as: column) == true
        else { continue }
        if term.isDescending {
          sorting.descending = order.name
        } else {
          sorting.ascending = order.name
        }
      }
      return sorting.ascending == nil && sorting.descending == nil ? nil : sorting
    }
  }
}

extension OrderTerm {
  /// The name that the expression is; nil: it is another expression.
  fileprivate var columnName: String? {
    let tokens = SQLTokens.tokens(of: expression)
    return tokens.count == 1 ? tokens[0].name : nil
  }
}
