import QueryAnalysis

/// Looks whether an item of a list is one whole SQL term.
///
/// YAML cuts `[coalesce(a, b), c]` at every comma, and SQLite would complain about each piece in
/// terms of a statement that the user did not write.
enum SQLTerm {
  static func flaw(_ text: String) -> Flaw? {
    if let mismatch = SQLFragment.mismatch(in: text) {
      return Flaw(
        "is cut in two: its \(mismatch == .parentheses ? "parentheses" : "quotes") do not match",
        mend: "put an item that contains a comma in quotes")
    }
    guard SQLFragment.isList(text) else { return nil }
    return Flaw("is more than one term", mend: "write each term as an item of its own")
  }
}
