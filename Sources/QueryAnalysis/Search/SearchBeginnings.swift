/// Whether a query searches for words of which only the beginning is known: `hou*`.
///
/// FTS5 skips to a rowid in the list of a word; what begins alike it gathers anew for each rowid.
/// Among 100 000 documents that all match, that is 12 ms instead of 15 µs, where the query takes 230.
package enum SearchBeginnings: Sendable {
  case written
  /// A value of a parameter may be one.
  case inArguments

  /// What a query is, by its text.
  init(in sql: String) {
    let isWritten = SQLTokens.tokens(of: sql).contains { token in
      (token.kind == .string || token.text.first == "\"") && token.text.contains("*")
    }
    self = isWritten ? .written : .inArguments
  }
}
