/// How the records of groups follow the rows that they are made of, where these are so many that a group is not to be
/// read again for each of them.
///
/// The rows are queries like any other, which are kept up to date row by row. What comes and goes there is added to the
/// running totals of a group and taken from them.
package struct GroupTally: Sendable, Equatable {
  /// What stands in a column of a record.
  package enum Column: Sendable, Equatable {
    /// One of the first columns of the rows, which all rows of a group have in common.
    case term(Int)
    /// What its rows come to.
    case value(GroupValue)
    /// What is worked out from the records before it: a place, or a running sum.
    case running
  }

  /// The rows; each of them begins with the columns that all rows of a group have in common, and is in their order
  /// where a value needs an order.
  package let rows: [QueryDefinition]
  /// The tables of which each row is one of the rows that a group is made of.
  let tables: [String]
  /// How many these columns are, of which the first ones are what it is grouped by.
  package let termCount: Int
  /// The columns of a record in which these first ones stand.
  package let keyColumns: [Int]
  package let columns: [Column]
  /// What has to be true of a group that is shown; nil: all are.
  package let having: GroupValue?

  /// Whether equal values of some rows' first column, behind what the rows of a group have in common, count once.
  func countsOnce(_ rows: QueryDefinition) -> Bool {
    let values = columns.compactMap { column in
      if case .value(let value) = column { value } else { nil }
    }
    return (values + [having].compactMap(\.self)).contains { value in
      value.plan.aggregates.contains { $0.countsOnce && $0.rows == rows }
    }
  }
}

/// A value that is made of aggregates of a group's rows.
package struct GroupValue: Sendable, Equatable {
  package let plan: AggregatePlan
  /// For each of its aggregates, which of ``GroupTally/rows`` they are of.
  package let rows: [Int]
}

/// The parts of a query that groups rows, as ``GroupTally`` needs them.
struct GroupSyntax {
  enum Column {
    case term(Int)
    /// An expression over aggregates.
    case value(String)
    /// A function of the records before.
    case running
  }

  /// What all rows of a group have in common: what it is grouped by, and then what follows from that.
  var terms: [String]
  let keyColumns: [Int]
  var columns: [Column]
  let having: String?
  /// What stands behind SELECT and its columns.
  let from: String
}
