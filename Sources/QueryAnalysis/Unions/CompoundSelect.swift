/// The SELECTs that UNION ALL, UNION, or both join to one statement, or of which a FULL JOIN has the rows.
///
/// https://www.sqlite.org/lang_select.html#compound_select_statements
struct CompoundSelect {
  /// What makes one statement of them, in words.
  enum Kind: String {
    case unionAll = "UNION ALL"
    /// The last operator is UNION: equal records are one, whatever those before it leave.
    case union = "UNION"
    case fullJoin = "a FULL JOIN"
  }

  /// The last one has the ORDER BY and the LIMIT of the whole.
  var arms: [SelectSyntax]
  var kind: Kind
  /// The SELECTs as they are written, without ORDER BY and LIMIT, each with the tables of WITH that it reads.
  var texts: [String]
  /// The SELECTs of the same FULL JOIN from its other table, which serve better where each of its rows has one record;
  /// nil: it can be had from the first one only.
  var turned: [SelectSyntax]? = nil
}

extension SelectParser {
  /// Takes a compound statement apart; nil: it is another statement, or has other operators.
  ///
  /// - Throws: ``NotIncremental``, with the name of what it does not follow.
  static func parseCompound(_ sql: String) throws(NotIncremental) -> CompoundSelect? {
    var tokens = tokens(of: sql)
    while tokens.last?.isSymbol(";") == true { tokens.removeLast() }
    let operators = tokens.compoundOperators
    guard let last = operators.last, operators.allSatisfy({ tokens[$0].isWord("UNION") }) else {
      return nil
    }
    let isAll = { (index: Int) in tokens[(index + 1)...].first?.isWord("ALL") == true }
    if isAll(last), !operators.allSatisfy(isAll) {
      throw NotIncremental(
        reason: "UNION ALL adds records to those that UNION made one: write it before the UNION")
    }
    let arms = try parseParts(tokens.sourceText)
    let starts = operators.map { $0 + (isAll($0) ? 2 : 1) }
    let first = tokens.firstIndex { $0.depth == 0 && $0.isWord("SELECT") } ?? tokens.startIndex
    let texts = zip([first] + starts, operators + [tokens.endOfRows(from: starts.last ?? first)])
      .map { tokens[$0..<$1].sourceText }
    return CompoundSelect(
      arms: arms, kind: isAll(last) ? .unionAll : .union,
      texts: zip(arms, texts).map { $0.withoutUnreadTables.with + $1 })
  }
}

extension ArraySlice<SQLToken> {
  /// Where the words stand that join SELECTs to one statement.
  var compoundOperators: [Int] {
    indices.filter { index in
      self[index].depth == 0
        && SelectClauses.compoundOperators.contains(where: self[index].isWord)
    }
  }

  /// Where ORDER BY or LIMIT of the whole begins, if they do.
  func endOfRows(from start: Int) -> Int {
    self[start...].indices.first { index in
      self[index].depth == 0
        && (self[index].isWord("LIMIT")
          || self[index].isWord("ORDER") && self[(index + 1)...].first?.isWord("BY") == true)
    } ?? endIndex
  }
}

extension SelectSyntax {
  /// Its WITH, as text.
  fileprivate var with: String {
    commonTables.isEmpty ? "" : "WITH \(commonTables.map(\.sql).joined(separator: ", "))\n"
  }
}
