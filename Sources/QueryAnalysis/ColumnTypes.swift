package import OrderedResults

/// What a definition says of the types of its columns.
package struct ColumnTypes: Sendable, Hashable {
  /// Whether a column of which nothing is said has the type that its table declares.
  package var areInferred = false
  /// By the names of columns; nil: the values are shown as they are stored.
  package var declared: [String: ColumnType?] = [:]

  /// As stored.
  package init() {}

  /// What the tables declare.
  package static let inferred = {
    var types = ColumnTypes()
    types.areInferred = true
    return types
  }()
}
