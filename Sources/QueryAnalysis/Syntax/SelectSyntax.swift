/// Why a query cannot be kept up to date row by row, in a sentence for a person.
struct NotIncremental: Error, Equatable {
  let reason: String
  /// Which source of FROM SQLite would look through as a whole, if that is why.
  var unsearched: String?
}

/// A SELECT taken apart by clause: the form in which declared queries and those written in SQL are
/// tracked alike.
///
/// https://www.sqlite.org/lang_select.html
struct SelectSyntax: Equatable {
  var commonTables: [CommonTable] = []
  var isDistinct = false
  var columns: [ResultColumn]
  var sources: [SourceSyntax]
  var predicate: String?
  var groupBy: [String] = []
  var having: String?
  /// The windows that have names: `name AS (…)`.
  var windows: [String] = []
  var order: [String] = []
  var limit: LimitSyntax?

  /// All expressions in which subqueries may be.
  var expressions: [String] {
    let conditions = sources.compactMap { source in
      if case .on(let condition) = source.constraint { condition } else { nil }
    }
    return columns.map(\.text) + conditions + [predicate, having].compactMap(\.self) + order
  }

  /// The same with another text for each of ``expressions``.
  func mapExpressions(_ transform: (String) throws -> String) rethrows -> SelectSyntax {
    var copy = self
    copy.columns = try columns.map { ResultColumn(try transform($0.text)) }
    for (index, source) in sources.enumerated() {
      guard case .on(let condition) = source.constraint else { continue }
      copy.sources[index].constraint = .on(try transform(condition))
    }
    copy.predicate = try predicate.map(transform)
    copy.having = try having.map(transform)
    copy.order = try order.map(transform)
    return copy
  }
}

/// One table of WITH.
struct CommonTable: Equatable {
  let name: String
  /// The names in parentheses behind its own; nil: those of its columns.
  let columns: [String]?
  let select: String
}

/// LIMIT and OFFSET as they were written.
struct LimitSyntax: Equatable {
  let limit: String
  let offset: String?
}

/// One member of FROM, and how it is joined to those before it.
struct SourceSyntax: Equatable {
  enum Origin: Equatable {
    case table(schema: String?, name: String)
    /// A table-valued function, and what stands between its parentheses.
    case function(name: String, arguments: String)
    /// A subquery, without its parentheses.
    case select(String)
  }

  enum Constraint: Equatable {
    case none
    case on(String)
    case using([String])
  }

  let origin: Origin
  var alias: String?
  /// LEFT JOIN: its columns are NULL where nothing matches.
  var isLeftJoined = false
  /// FULL JOIN: so are those of what stands before it.
  var isFullJoined = false
  /// Whether it is written before the first one, with a RIGHT JOIN between them.
  var isWrittenFirst = false
  /// NATURAL JOIN: USING all columns that those before it have, too.
  var isNatural = false
  /// CROSS JOIN: SQLite goes along what stands before it first.
  /// https://www.sqlite.org/optoverview.html#manual_control_of_query_plans_using_cross_join
  var isCrossJoined = false
  var constraint = Constraint.none

  /// The name by which the query knows it.
  var name: String? {
    if let alias { return alias }
    if case .table(_, let name) = origin { return name }
    return nil
  }
}

/// A member of the list behind SELECT.
package struct ResultColumn: Equatable {
  package enum Kind: Equatable {
    /// `*`
    case all
    /// `name.*`
    case allOf(String)
    case expression
  }

  package let kind: Kind
  let text: String
  /// The text without its alias.
  package let expression: String
  let alias: String?

  package init(_ text: String) {
    let tokens = SQLTokens.tokens(of: text)
    self.text = text
    if tokens.count == 1, tokens[0].isSymbol("*") {
      (kind, expression, alias) = (.all, text, nil)
    } else if tokens.count == 3, tokens[1].isSymbol("."), tokens[2].isSymbol("*"),
      let name = tokens[0].name
    {
      (kind, expression, alias) = (.allOf(name), text, nil)
    } else {
      kind = .expression
      let length = Self.lengthOfExpression(tokens)
      alias = length < tokens.count ? tokens.last?.name : nil
      expression = length < tokens.count ? tokens[..<length].sourceText : text
    }
  }

  /// Whether an expression is the column's alias and nothing else.
  package func isNamed(by expression: String) -> Bool {
    guard let alias, let name = SQLTokens.tokens(of: expression).columnName else { return false }
    return name.qualifier == nil && name.name.isSameIdentifier(as: alias)
  }

  /// What may be an alias: the last word, with or without AS.
  var possibleAlias: String? {
    let tokens = SQLTokens.tokens(of: text)
    return tokens.count > 1 ? tokens.last?.name : nil
  }

  /// `expression AS name`, or a name behind a column, a parenthesis or a literal. Other aliases
  /// without AS stay with the expression.
  private static func lengthOfExpression(_ tokens: [SQLToken]) -> Int {
    let count = tokens.count
    if count > 2, tokens[count - 2].isWord("AS"), tokens[count - 2].depth == 0,
      tokens[count - 1].name != nil
    {
      return count - 2
    }
    guard count > 1, let last = tokens.last, last.name != nil, last.depth == 0,
      !["END", "ISNULL", "NOTNULL"].contains(where: last.isWord)
    else { return count }
    let before = tokens[count - 2]
    let endsExpression =
      before.isSymbol(")") || [.number, .string, .parameter].contains(before.kind)
    return endsExpression || tokens.dropLast().columnName != nil ? count - 1 : count
  }
}

/// A column as an expression names it: `name` or `table.name`.
struct ColumnName: Equatable {
  let qualifier: String?
  let name: String
}

extension RandomAccessCollection<SQLToken>
where
  Index == Int, SubSequence: RandomAccessCollection<SQLToken>,
  SubSequence.SubSequence == SubSequence, SubSequence.Index == Int
{
  /// The text from the first token to the last.
  var sourceText: String {
    guard let first, let last else { return "" }
    return String(
      Substring(
        first.text.base[first.text.startIndex..<last.text.endIndex]))
  }

  /// The column that these tokens name, if they are nothing else; parentheses around it do not
  /// count.
  var columnName: ColumnName? {
    let tokens = withoutParentheses
    if tokens.count < count { return tokens.columnName }
    switch count {
    case 1: return self[startIndex].name.map { ColumnName(qualifier: nil, name: $0) }
    case 3:
      guard self[startIndex + 1].isSymbol("."), let qualifier = self[startIndex].name,
        let name = self[startIndex + 2].name
      else { return nil }
      return ColumnName(qualifier: qualifier, name: name)
    default: return nil
    }
  }

  /// The tokens without parentheses around all of them.
  var withoutParentheses: SubSequence {
    guard let first, let last, count > 2, first.isSymbol("("), last.isSymbol(")"),
      !dropFirst().dropLast().contains(where: { $0.depth == first.depth })
    else { return self[...] }
    return self[(startIndex + 1)..<(endIndex - 1)].withoutParentheses
  }

  /// The tokens between separators.
  func split(where isSeparator: (SQLToken) -> Bool) -> [SubSequence] {
    split(omittingEmptySubsequences: false, whereSeparator: isSeparator)
  }
}
