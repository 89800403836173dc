/// The shape of a query's rows: visible columns first, then hidden ones.
///
/// Hidden columns carry what the engine needs and the reader did not ask for: key columns that were
/// not selected, the name and the index title of the section, terms of the order.
package struct RecordLayout: Sendable, Equatable {
  /// Names of the visible columns, in order.
  package var columns: [String]
  /// Visible and hidden columns together.
  package var columnCount: Int
  /// Positions of the columns that identify a record; nil where no key can be known.
  package var key: [Int]?
  /// Whether SQLite guarantees that no two records share a key.
  ///
  /// Otherwise they may, and records that do are told apart by their order of appearance.
  package var keyIsUnique: Bool
  /// Names of the key columns, in the order of `key`.
  package var keyNames: [String]
  /// Position of the section's name; nil: the one section is named null, and is there even if empty.
  package var section: Int?
  /// Position of the section's index title; nil: the upper-cased first character of its name.
  package var sectionIndexTitle: Int?
  /// What the visible columns mean, one for each; empty where none means more than it stores.
  package var types: [ColumnType?] = []

  /// Makes a layout; every position must be that of a column.
  ///
  /// Without `columnCount` there are no hidden columns; without `keyNames` the key columns are
  /// visible ones, and named so.
  package init(
    columns: [String], columnCount: Int? = nil, key: [Int]? = nil, keyIsUnique: Bool = false,
    keyNames: [String]? = nil, section: Int? = nil, sectionIndexTitle: Int? = nil
  ) {
    let columnCount = columnCount ?? columns.count
    precondition(columnCount >= columns.count, "\(columnCount) columns, \(columns.count) visible")
    for position in (key ?? []) + [section, sectionIndexTitle].compactMap(\.self) {
      precondition(0..<columnCount ~= position, "column \(position) of \(columnCount)")
    }
    self.columns = columns
    self.columnCount = columnCount
    self.key = key
    self.keyIsUnique = keyIsUnique
    self.keyNames = keyNames ?? (key ?? []).map { columns[$0] }
    self.section = section
    self.sectionIndexTitle = sectionIndexTitle
  }
}
