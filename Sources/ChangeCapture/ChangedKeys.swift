package import OrderedResults

/// Rows of a table WITHOUT ROWID that may have changed, by their numbers (``TableKey``).
package struct ChangedKeys: Sendable, Equatable {
  /// The values of the keys, in the order of the table's key; none for a row that may be gone.
  package private(set) var values: [Int64: [Value]]

  package init(_ values: [Int64: [Value]]) { self.values = values }

  /// Ascending, each once. O(k log k), k rows.
  package var numbers: [Int64] { values.keys.sorted() }

  package mutating func formUnion(_ other: ChangedKeys) {
    values.merge(other.values) { $1.isEmpty ? $0 : $1 }
  }
}
