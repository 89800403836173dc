/// A section's name came back after another section: the query's order does not group by section.
package struct SectionError: Error, Sendable, Equatable {
  /// The name that came back.
  package var name: Value
  /// The offset of the record that brought it back.
  package var offset: Int
  /// The key of that record; nil where no key can be known.
  package var key: [Value]?
  /// The offset at which the section stood first.
  package var firstOffset: Int
}
