/// A column whose value follows from its own record, those before, and the one behind: a window function of the
/// result's own order.
///
/// https://www.sqlite.org/windowfunctions.html
package struct RunningColumn: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// `row_number()`
    case number
    /// `rank()`
    case rank
    /// `dense_rank()`
    case denseRank
    /// How many values of a column are not NULL, up to here; no two records are equal.
    case count(of: Int)
    /// The sum of a column that holds integers, up to here; no two records are equal.
    case sum(of: Int)
    /// The greatest, or the least, of a column that holds integers, up to here; no two records are equal.
    case greatest(of: Int)
    case least(of: Int)
    /// What the record before has in a column: `lag()`; no two records are equal.
    case before(of: Int)
    /// What the record behind has in a column: `lead()`; no two records are equal.
    case behind(of: Int)
  }

  package let column: Int
  package let kind: Kind
  /// So many terms of the result's order decide which records are equal, and share a place.
  package let terms: Int

  package init(column: Int, kind: Kind, terms: Int) {
    (self.column, self.kind, self.terms) = (column, kind, terms)
  }

  /// Whether it depends on how many records are before its own.
  var isOfOffset: Bool { kind == .number || kind == .rank }
}
