/// The tables in which FTS5 keeps an index whose documents are in another table.
///
/// https://www.sqlite.org/fts5.html, "FTS5 data structures"
package struct SearchIndex: Sendable, Hashable {
  /// The FTS5 table.
  package let table: String
  /// Whether it notes where in a document a word is (`detail = full`, or `column`).
  package let hasPositions: Bool

  package init(table: String, hasPositions: Bool) {
    self.table = table
    self.hasPositions = hasPositions
  }

  /// Has what is written to the index, in pages of about 1000 bytes.
  package var entries: String { table + "_data" }
  /// Has a row for each document, with its size.
  package var sizes: String { table + "_docsize" }
}
