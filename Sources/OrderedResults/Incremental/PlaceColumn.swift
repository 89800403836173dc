/// A column that tells the place of its record among all: a window function of the result's own order.
///
/// https://www.sqlite.org/windowfunctions.html#built_in_window_functions
package struct PlaceColumn: Sendable, Equatable {
  package enum Kind: Sendable {
    /// `row_number()`
    case number
    /// `rank()`
    case rank
    /// `dense_rank()`
    case denseRank
  }

  package let column: Int
  package let kind: Kind
  /// So many terms of the result's order decide which records are equal, and share a place.
  package let terms: Int

  package init(column: Int, kind: Kind, terms: Int) {
    (self.column, self.kind, self.terms) = (column, kind, terms)
  }
}
