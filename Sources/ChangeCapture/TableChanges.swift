/// What may have changed in one table.
package enum TableChanges: Sendable, Equatable {
  /// Nothing but rows with these rowids, ascending, each once: inserted, deleted or updated.
  case rows([Int64])
  /// Of the rows that there are now, nothing but these, ascending, each once; any other may have been
  /// deleted.
  case present([Int64])
  /// As ``rows(_:)``, for a table WITHOUT ROWID.
  case keys(ChangedKeys)
  /// Any row.
  case whole(Reason)

  /// Why it is not known which rows changed. The raw values are stable words, fit to label a metric.
  package enum Reason: String, Sendable, CaseIterable {
    /// The table's rows are not followed.
    case notFollowed
    /// Its rows are going to be followed, and what was on a page that was written had not been read.
    case notReadYet
    /// The table has no rowids, and its rows are not followed by their keys.
    case withoutRowID
    /// The table is virtual, and one of the tables that it may read has changed.
    case virtualTable
    /// The table is an index of FTS5, and a page of it is not what it should be.
    case malformedIndex
    /// The table was made, dropped, renamed or altered.
    case schema
    /// The log was begun anew before all of it was read; what happened is known only of followed
    /// tables.
    case logLost
    /// An overflow page changed that belongs to one of the tables that are not followed.
    case overflow
    /// Rows without rowids were deleted by a commit that the transaction may not see.
    case snapshotUnknown
    /// The table has more overflow pages than are followed.
    case tooManyOverflowPages
    /// More rows changed than are worth being read one by one.
    case manyRows
  }

  var isNothing: Bool {
    switch self {
    case .rows(let rows): rows.isEmpty
    case .keys(let keys): keys.values.isEmpty
    case .present, .whole: false
    }
  }

  /// How many rows are named.
  var count: Int {
    switch self {
    case .rows(let rows), .present(let rows): rows.count
    case .keys(let keys): keys.values.count
    case .whole: 0
    }
  }

  /// Joins the changes of one span of time with those of the next.
  package mutating func formUnion(_ other: TableChanges) {
    switch (self, other) {
    case (.whole, _): break
    case (_, .whole): self = other
    case (.rows(let mine), .rows(let others)): self = .rows(RowIDs.union(mine, others))
    case (.rows(let mine), .present(let others)), (.present(let mine), .rows(let others)),
      (.present(let mine), .present(let others)):
      self = .present(of: RowIDs.union(mine, others))
    case (.keys(var mine), .keys(let others)):
      mine.formUnion(others)
      self = .keys(mine)
    // It has become another table.
    case (.rows, .keys), (.present, .keys), (.keys, .rows), (.keys, .present):
      self = .whole(.schema)
    }
  }

  /// So many rows of the leaves that changed are told apart from the others of their table: to name
  /// them costs some 10 ns each.
  private static let mostPresent = 32_768

  static func present(of rowIDs: [Int64]) -> TableChanges {
    rowIDs.count <= mostPresent ? .present(rowIDs) : .whole(.notFollowed)
  }
}
