/// A query whose pages are read by themselves, because an index, or the rowid, has its order: a page
/// costs the rows that it shows and skips, and the others are only counted.
///
/// Only queries that are maintained row by row have one: what they return is known to come from their
/// tables alone, and so to be the same until one of these changes.
package struct PagedStatement: Sendable, Equatable {
  /// The query, with places for a limit and an offset: its last parameters, without names.
  package let page: String
  /// Returns the number of its records.
  package let count: String
}
