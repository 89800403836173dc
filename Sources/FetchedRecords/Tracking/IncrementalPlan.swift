import OrderedResults

/// How the result of a query over one table is kept up to date row by row.
///
/// A changed row of the table changes the record of its rowid and no other, because every
/// expression of the query looks at that row alone.
package struct IncrementalPlan: Sendable, Equatable {
  /// The table whose rows are the records.
  package let table: String
  /// The position of the rowid among the columns.
  let rowID: Int
  /// The order of the result, which is total.
  let order: RecordOrder
  /// The query without its order, up to the condition that names rowids.
  let sqlBeforeKeys: String
  /// A condition by which rows find the controllers that they concern, if there is one.
  let route: EqualityRoute?

  /// How many rowids one statement asks for: few statements to prepare, and none much too large.
  static let batchSizes = [1, 8, 64]

  /// The statement for that many rowids, which are its last parameters.
  ///
  /// Only a literal list is pushed down to a search by key.
  func sql(forKeys count: Int) -> String {
    sqlBeforeKeys + "(" + repeatElement("?", count: count).joined(separator: ", ") + ")"
  }
}
