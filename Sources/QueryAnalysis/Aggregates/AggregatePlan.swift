import GRDBSQLite

/// A statement of a query whose value is read together with the records.
package struct AlongsideStatement: Sendable {
  package let name: String
  package let sql: String
  /// The tables that it reads.
  package let tables: [String]
  /// How its value is kept as rows change; nil: it runs again.
  package let plan: AggregatePlan?
  /// Why it runs again, in a sentence for a person; nil: it need not.
  package let refusal: String?
}

/// How the value of a statement that aggregates rows follows their changes.
///
/// The rows are a query like any other, which is kept up to date row by row. What comes and goes there
/// is added to running totals and taken from them.
package struct AggregatePlan: Sendable, Equatable {
  package let aggregates: [Aggregate]
  /// A SELECT of the value, with a parameter without a name for each aggregate; nil: it is the value of
  /// the only one.
  package let expression: String?
}

/// An aggregate of rows, all of which are known.
package struct Aggregate: Sendable, Equatable {
  /// A function of the set of its rows, whatever their order; but a sum of reals may differ in its last
  /// digits: https://www.sqlite.org/lang_aggfunc.html
  package enum Function: String, Sendable {
    case count, sum, total, avg, min, max

    /// Whether its value is that of one of the rows.
    package var isExtreme: Bool { self == .min || self == .max }

    /// Whether it adds values up.
    var adds: Bool { self == .sum || self == .total || self == .avg }
  }

  /// Whether SQLite adds reals with a compensation, as it does from 3.43 on: what they come to does not depend on their
  /// order then, but for one sum in many thousands.
  package static let addsWithCompensation = sqlite3_libversion_number() >= 3_043_000

  package let function: Function
  /// The rows: a query of its own, in the order of the column where that is of `min` and `max`.
  package let rows: QueryDefinition
  /// The column that it is of; nil: the rows are counted.
  package let column: Int?
  /// Whether equal values of the column, by which the rows of a group are in order, count once.
  package var countsOnce = false
}
