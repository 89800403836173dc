/// A part of a ``QueryDefinition``; members of lists are counted from 0.
package enum QueryPart: Sendable, Hashable {
  case table
  case sql
  /// The fields together.
  case fields
  case field(Int)
  case predicate
  case grouping(Int)
  case having
  case ordering(Int)
  /// A term of the order of that name.
  case orderingOf(String, Int)
  /// A column of the key.
  case key(Int)
  case section
  case sectionIndexTitle
  /// The type of the column of that name.
  case columnType(String)
  /// The parameter of that name.
  case parameter(String)
  /// The alongside statement of that name.
  case alongside(String)

  var isAlongside: Bool { if case .alongside = self { true } else { false } }
}
