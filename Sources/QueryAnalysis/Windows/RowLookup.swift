/// How the only record of a query is found among others that are all followed.
///
/// What a window function of all rows shows of one depends on the others. So these are a query like any other,
/// which is kept up to date row by row, once for all who look up a row of them:
/// `SELECT * FROM (SELECT id, rank() OVER (ORDER BY score DESC) AS place FROM player) WHERE id = :id`.
package struct RowLookup: Sendable, Equatable {
  /// What tells which row is shown.
  package enum Key: Sendable, Equatable {
    case integer(Int64)
    /// The name of the parameter that has it.
    case parameter(String)
  }

  /// The rows, each by its rowid.
  package let rows: QueryDefinition
  /// The columns of these that the record shows.
  package let columns: [Int]
  /// The rowid of the one that is shown.
  package let rowID: Key
}
