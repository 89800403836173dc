/// A condition of WHERE that looks for something in a list of groups:
///
///     SELECT * FROM message WHERE (room, id) IN (SELECT room, max(id) FROM message GROUP BY room)
///
/// has the rows of
///
///     SELECT message.* FROM message, (SELECT room, max(id) FROM message GROUP BY room) AS list(a, b)
///     WHERE room = list.a AND id = list.b
///
/// where one group at most is joined to a row.
struct GroupedList {
  /// What the list is called where it is joined.
  static let name = "didchange list"

  let text: String
  let operands: [String]
  let select: String
  /// Its place among the conditions that AND joins.
  let place: Int

  static func all(in syntax: SelectSyntax) -> [GroupedList] {
    syntax.conditions.enumerated().compactMap { GroupedList($1, place: $0) }
  }

  private init?(_ condition: ArraySlice<SQLToken>, place: Int) {
    let text = condition.sourceText
    let tokens = SQLTokens.tokens(of: text)[...]
    let subqueries = Subquery.all(in: text)
    guard subqueries.count == 1, case .membership(let operand?) = subqueries[0].role,
      subqueries[0].isPlainCondition, operand.startIndex == tokens.startIndex,
      subqueries[0].body.endIndex == tokens.endIndex - 1,
      let inner = try? SelectParser.parse(subqueries[0].body.sourceText), !inner.groupBy.isEmpty
    else { return nil }
    let members = operand.withoutParentheses
    let depth = members.first?.depth
    operands = members.split { $0.isSymbol(",") && $0.depth == depth }.map(\.sourceText)
    guard operands.count == inner.columns.count,
      inner.columns.allSatisfy({ $0.kind == .expression })
    else { return nil }
    (self.text, self.place, select) = (text, place, subqueries[0].body.sourceText)
  }

  /// The query with the list in FROM, as the last source.
  func joined(to syntax: SelectSyntax) -> SelectSyntax {
    var copy = syntax
    let names = operands.indices.map { "didchange \($0)" }
    copy.commonTables.append(CommonTable(name: Self.name, columns: names, select: select))
    copy.sources.append(
      SourceSyntax(origin: .table(schema: nil, name: Self.name), alias: nil))
    var conditions = syntax.conditions.map(\.sourceText)
    conditions[place] = zip(operands, names).map { operand, name in
      "\(operand) = \(Self.name.quotedIdentifier).\(name.quotedIdentifier)"
    }.joined(separator: " AND ")
    copy.predicate = conditions.joined(separator: "\nAND ")
    return copy
  }
}
