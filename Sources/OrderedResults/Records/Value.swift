/// One SQLite value, as https://www.sqlite.org/datatype3.html has them.
///
/// For names of sections, keys and old values; rows are ``Record``s, which hold no array of these.
package enum Value: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  /// Bytes as SQLite gave them: they may not be UTF-8.
  case text([UInt8])
  case blob([UInt8])

  /// A text value from a string.
  package static func text(_ string: String) -> Value { .text(Array(string.utf8)) }
}
