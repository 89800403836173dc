/// A query in whose text another SELECT is to stand for one of its own.
struct LimitedText {
  private let text: String
  /// Where it stands.
  private let place: Range<String.Index>
  /// Whether it is a name that stands there.
  private let isName: Bool
  /// The name by which it is known, if the place of its own name is that of the alias, too.
  private let alias: String?
  /// Where its order ends, or all of it.
  private let endOfOrder: String.Index
  private var order = ""

  /// Nil where it stands at several places, or at none that is certain.
  init?(_ sql: String, _ source: LimitedRowsAnalysis.Source, _ syntax: SelectSyntax) {
    let tokens = SelectParser.tokens(of: sql)
    guard let first = tokens.first else { return nil }
    text = String(first.text.base)
    let clauses = SelectClauses(tokens)
    guard let from = clauses[.from] else { return nil }
    endOfOrder = clauses[.order]?.last?.text.endIndex ?? text.endIndex
    let places: [ArraySlice<SQLToken>]
    switch source.place {
    case .written:
      (isName, alias) = (false, nil)
      places = tokens.parentheses.filter { $0.sourceText == source.sql }
    case .view(let name):
      isName = true
      let isAlone = syntax.sources.contains {
        if case .table(_, let table) = $0.origin {
          table.isSameIdentifier(as: name) && $0.alias == nil
        } else {
          false
        }
      }
      alias = isAlone ? name : nil
      places = from.indices.compactMap { index in
        guard from[index].name?.isSameIdentifier(as: name) == true, from[index].depth == 0 else {
          return nil
        }
        // The name of the schema may stand before it.
        let isQualified = from[..<index].last?.isSymbol(".") == true
        let place = from[max(from.startIndex, index - (isQualified ? 2 : 0))...index]
        let before = from[..<place.startIndex].last
        let isSource = before.map { $0.isSymbol(",") || $0.isWord("JOIN") } ?? true
        return isSource ? place : nil
      }
    }
    guard places.count == 1, let begin = places[0].first, let end = places[0].last else {
      return nil
    }
    place = begin.text.startIndex..<end.text.endIndex
  }

  /// Ends the order with columns, in the direction of its last term.
  mutating func completeOrder(_ columns: [Int]) {
    let tokens = SelectParser.tokens(of: text)
    guard let last = SelectClauses(tokens)[.order]?.members.last?.sourceText else { return }
    let direction = OrderTerm(last).isDescending ? " DESC" : ""
    order = columns.map { ", \($0 + 1)\(direction)" }.joined()
  }

  func replacing(with select: String) -> String {
    let name = alias.map { " AS \($0.quotedIdentifier)" } ?? ""
    return text[..<place.lowerBound] + (isName ? "(\(select))\(name)" : select)
      + text[place.upperBound..<endOfOrder] + order + text[endOfOrder...]
  }
}

extension ArraySlice<SQLToken> {
  /// What stands between parentheses, wherever.
  fileprivate var parentheses: [ArraySlice<SQLToken>] {
    indices.compactMap { index in
      var rest = self[index...]
      return rest.takeParentheses()
    }
  }
}
