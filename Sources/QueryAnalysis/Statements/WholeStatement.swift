/// A SELECT as it was written, with room for columns behind its own, and without its order.
struct WholeStatement {
  private let beforeColumns: String
  private let behindColumns: String

  /// - Parameter sql: nil comes of what has no FROM.
  init?(_ sql: String) {
    let tokens = SQLTokens.tokens(of: sql)[...]
    let clauses = SelectClauses(tokens)
    guard let from = clauses[.from], from.startIndex > tokens.startIndex, let last = tokens.last
    else { return nil }
    let start = tokens[from.startIndex - 1].text.startIndex
    // ORDER BY is two words.
    let ends = [
      clauses[.order].map { $0.startIndex - 2 }, clauses[.limit].map { $0.startIndex - 1 },
    ]
    let end =
      ends.compactMap(\.self).min().map { tokens[$0].text.startIndex } ?? last.text.endIndex
    beforeColumns = String(sql[..<start])
    behindColumns = String(sql[start..<end])
  }

  /// With more columns.
  func sql(with columns: [String]) -> String {
    beforeColumns + columns.map { ", \($0)\n" }.joined() + behindColumns
  }
}
