/// How a record follows the rows of another table that refer to its own row, where these are so many that they are not
/// to be read again for each change: what they come to is known, and stands as parameters where they were aggregated.
package struct OwnedTallies: Sendable, Equatable {
  /// The records of a row, with a value for each parameter.
  package let records: KeyedStatement
  /// What rows refer to it by; nil: its rowid.
  package let key: KeyedStatement?
  package let parts: [Part]

  /// Aggregates of the same rows.
  package struct Part: Sendable, Equatable {
    /// Without their colons.
    package let parameters: [String]
    /// By what they refer to the row by, what they come to: a column for each parameter.
    package let tally: GroupTally
  }

  /// The rows of all.
  package var rows: [QueryDefinition] { parts.flatMap(\.tally.rows) }
}

/// The parts of a query whose records aggregate rows that refer to their own, as ``OwnedTallies`` needs them.
struct OwnedSyntax {
  let records: KeyedStatement
  let key: KeyedStatement?
  let parts: [Part]

  struct Part {
    let parameters: [String]
    let groups: GroupSyntax
  }
}
