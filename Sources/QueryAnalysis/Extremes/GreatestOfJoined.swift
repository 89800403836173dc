import Algorithms
import GRDB

/// A SELECT of rows, each with the greatest value, or the least, of the rows of another table that are joined with it:
///
///     SELECT room.*, max(message.id), message.text FROM room
///     LEFT JOIN message ON message.room = room.id GROUP BY room.id
///
/// has the records of
///
///     SELECT room.*, message.id, message.text FROM room LEFT JOIN message
///     ON message.id = (SELECT max(o.id) FROM message AS o WHERE o.room = room.id)
///
/// and, where it shows no more of them,
///
///     SELECT room.*, max(message.at) FROM room
///     LEFT JOIN message ON message.room = room.id GROUP BY room.id
///
/// those of
///
///     SELECT room.*, (SELECT max(o.at) FROM message AS o WHERE o.room = room.id) FROM room
///
/// of which not all rows that are joined are read, where an index has the greatest value.
struct GreatestOfJoined {
  private let syntax: SelectSyntax
  private let resolver: SourceResolver
  /// All of FROM.
  private let select: ResolvedSelect
  /// The number of the source whose values are compared.
  private let index: Int
  /// What its rows have to fulfil to be joined, by the names of the query.
  private let conditions: [ArraySlice<SQLToken>]
  /// Whether all rows that are joined are looked at for the value, as in ``GroupExtreme/looksAtGroup``.
  private let looksAtGroup: Bool
  /// The query without the source, and without what its rows have to fulfil.
  private let rest: SelectSyntax

  private static let rowName = "didchange row"

  /// Takes a SELECT apart; nil: it is another.
  init?(_ syntax: SelectSyntax, lookingAtGroup looksAtGroup: Bool, _ resolver: SourceResolver) {
    var alone = syntax
    (alone.groupBy, alone.order, alone.limit) = ([], [], nil)
    guard syntax.sources.count > 1, syntax.joinsByConditions, syntax.having == nil,
      !syntax.isDistinct, syntax.windows.isEmpty, !syntax.groupBy.isEmpty,
      syntax.expressions.allSatisfy({ Subquery.all(in: $0).isEmpty }),
      let select = try? resolver.resolve(readBy: alone),
      let argument = syntax.shownOrOrderedBy.firstNonNil(\.extremeOfRows)?.argument,
      let name = SQLTokens.tokens(of: argument).columnName,
      let index = select.sources.indices.first(where: { select.sources[$0].mayOwn(name) }),
      case .table = select.sources[index].body, select.tables(ofSource: index).count == 1,
      let (rest, conditions) = syntax.leavingOut(joined: select.sources[index], at: index)
    else { return nil }
    (self.syntax, self.resolver, self.select, self.index) = (syntax, resolver, select, index)
    (self.rest, self.conditions, self.looksAtGroup) = (rest, conditions, looksAtGroup)
    guard isOneRowOfOthers else { return nil }
  }

  /// The query in another way, where it has the records that SQLite has for what was written.
  struct Rewriting {
    let syntax: SelectSyntax
    /// By what index what was written has to read the table for that; nil: by whichever.
    var ties: IndexedTies?
  }

  /// nil: the source's values make a difference that no other way would tell.
  ///
  /// The row of a key is joined rather than looked for in several subqueries; one of several rows with the value only
  /// where more of it is shown.
  var rewriting: Rewriting? {
    let found = joinedByKey ?? withSubqueries.map { Rewriting(syntax: $0) } ?? joinedByFirst
    return found.map { Rewriting(syntax: $0.syntax.withoutUnreadTables, ties: $0.ties) }
  }

  // MARK: - Parts

  /// Whether a group is of one row of each of the other sources.
  private var isOneRowOfOthers: Bool {
    var alone = rest
    (alone.groupBy, alone.order, alone.limit) = ([], [], nil)
    alone.columns = [ResultColumn("1")]
    guard let others = try? resolver.resolve(readBy: alone) else { return false }
    let groups = ResolvedSelect(syntax: syntax, sources: select.sources).groupTerms
    let origins = groups.map { text in
      SQLTokens.tokens(of: text).columnName.flatMap { name in
        select.sources[index].mayOwn(name) ? nil : others.origin(of: name)
      }
    }
    guard let origins = origins as? [BaseColumn] else { return false }
    let determination = RowDetermination(others, resolver.db)
    let all = RowDetermination(select, resolver.db)
    return others.functionIDs.isEmpty
      && determination.closure(of: determination.identified(by: Set(origins))).count
        == others.tables.count
      // Or there is nothing to be the greatest of.
      && all.closure(of: Set(select.tables.indices).subtracting(select.tables(ofSource: index)))
        .count < select.tables.count
  }

  /// `SELECT … FROM message AS o WHERE …`: those of its rows that are joined, the first one of an order where there is one.
  private func rows(_ shown: String, firstBy order: [String] = []) -> String {
    let table = select.tables[select.firstTable(ofSource: index)].name
    let conditions = conditions.map { renamed($0.sourceText).parenthesized }
    let sql = DeclaredParts.select(
      [shown], from: "main.\(table.quotedIdentifier) AS \(Self.rowName.quotedIdentifier)",
      conditions: conditions, groupBy: [], having: nil, order: order)
    return (sql + (order.isEmpty ? "" : "\nLIMIT 1")).parenthesized
  }

  /// An expression in which the source has the name that it has in the subqueries.
  private func renamed(_ expression: String) -> String {
    expression.replacingNames { name, _ in
      select.sources[index].mayOwn(name)
        ? "\(Self.rowName.quotedIdentifier).\(name.name.quotedIdentifier)" : nil
    }
  }

  private var sign: String { looksAtGroup ? "+" : "" }

  // MARK: - Ways to write it

  /// Where the greatest value is that of one row, which shows the rest of what it has.
  private var joinedByKey: Rewriting? {
    guard let (greatest, origin) = greatest, isKey(origin) else { return nil }
    let value = rows("\(greatest.function)(\(sign)\(renamed(greatest.argument)))")
    return joined(greatest, by: origin.name, value).map { Rewriting(syntax: $0) }
  }

  /// The same of the first of several rows with the greatest value.
  private var joinedByFirst: Rewriting? {
    guard let (greatest, origin) = greatest, let alias = syntax.sources[index].name,
      let key = select.tables[origin.table].rowIDColumn,
      !resolver.facts.isNullable(origin.name, of: select.tables[origin.table])
    else { return nil }
    let names = [origin.name, key].map {
      "\(Self.rowName.quotedIdentifier).\($0.quotedIdentifier)"
    }
    let direction = greatest.function.lowercased() == "max" ? " DESC" : ""
    let value = rows(names[1], firstBy: [sign + names[0] + direction, sign + names[1]])
    let ties = IndexedTies(
      table: select.tables[origin.table].name, source: alias, equal: Set(equalColumns),
      column: origin.name)
    return joined(greatest, by: key, value).map { Rewriting(syntax: $0, ties: ties) }
  }

  /// The columns of the source that equal those of others which compare like them.
  private var equalColumns: [String] {
    conditions.flatMap(\.equalColumns).compactMap { own, other in
      guard let column = select.origin(of: own), let equal = select.origin(of: other),
        column.table == select.firstTable(ofSource: index), equal.table != column.table,
        let comparison = comparison(of: column), comparison == self.comparison(of: equal)
      else { return nil }
      return column.name
    }
  }

  private func comparison(of column: BaseColumn) -> SchemaFacts.Comparison? {
    resolver.facts.comparison(of: column.name.lowercased(), in: select.tables[column.table].name)
  }

  /// The index that has the greatest value of the rows that are joined; nil: none.
  var missingIndex: MissingIndex? {
    let table = select.tables[select.firstTable(ofSource: index)]
    let values = syntax.shownOrOrderedBy.compactMap(\.extremeOfRows)
      .compactMap { select.origin(of: $0.argument)?.name }
    // The rowid is in every index.
    let columns = (equalColumns + values).map { $0.lowercased() }.uniqued()
      .filter { $0 != table.rowIDColumn?.lowercased() }
    return columns.isEmpty
      ? nil
      : MissingIndex(
        table: table.name,
        columns: columns.map { resolver.facts.declaredName(of: $0, in: table.name) })
  }

  /// The one value, and the column that has it.
  private var greatest: (GreatestOfGroups, BaseColumn)? {
    guard let greatest = GreatestOfGroups(syntax, resolver.locality.functions),
      let origin = select.origin(of: greatest.argument), isExact(origin)
    else { return nil }
    return (greatest, origin)
  }

  /// The query where the source is joined by one value of its key.
  private func joined(
    _ greatest: GreatestOfGroups, by key: String, _ value: String
  ) -> SelectSyntax? {
    // * shows them as they stand.
    let isLast = index == rest.sources.count
    guard let alias = syntax.sources[index].name,
      isLast || !syntax.columns.contains(where: { $0.kind == .all })
    else { return nil }
    guard let shown = select.origin(of: greatest.argument)?.name else { return nil }
    var copy = greatest.rows(showing: "\(alias.quotedIdentifier).\(shown.quotedIdentifier)")
    (copy.sources, copy.predicate) = (rest.sources, rest.predicate)
    var source = syntax.sources[index]
    source.constraint = .on("\(alias.quotedIdentifier).\(key.quotedIdentifier) = \(value)")
    copy.sources.append(source)
    return copy
  }

  /// Where nothing else is shown of the source.
  private var withSubqueries: SelectSyntax? {
    var copy = rest
    copy.groupBy = []
    let showsAll = syntax.columns.contains { column in
      switch column.kind {
      case .all: true
      case .allOf(let name): select.sources[index].isNamed(name)
      case .expression: false
      }
    }
    if showsAll { return nil }
    let replaced = { (expression: String) -> String? in
      guard let (function, argument) = expression.extremeOfRows else {
        let tokens = SQLTokens.tokens(of: expression)[...]
        let isOther =
          !resolver.locality.functions.callsAggregate(expression) && !tokens.callsWindowFunction
          && !ResolvedSelect.references(in: tokens).contains(where: select.sources[index].mayOwn)
        return isOther ? expression : nil
      }
      guard let origin = select.origin(of: argument), isExact(origin),
        origin.table == select.firstTable(ofSource: index)
      else { return nil }
      return rows("\(function)(\(sign)\(renamed(argument)))")
    }
    for (number, column) in syntax.columns.enumerated() where column.kind == .expression {
      guard let text = replaced(column.expression) else { return nil }
      if text == column.expression { continue }
      let name = column.alias ?? column.text
      copy.columns[number] = ResultColumn("\(text) AS \(name.quotedIdentifier)")
    }
    for (number, text) in syntax.order.enumerated() {
      let term = OrderTerm(text)
      // The name of a result column comes first.
      if term.isNumber || syntax.columns.contains(where: { $0.isNamed(by: term.expression) }) {
        continue
      }
      guard let replacement = replaced(term.expression) else { return nil }
      if replacement != term.expression { copy.order[number] = term.sql(of: replacement) }
    }
    if !syntax.sources[index].isLeftJoined {
      let conditions = [copy.predicate?.parenthesized, "EXISTS \(rows("1"))"].compactMap(\.self)
      copy.predicate = conditions.joined(separator: "\nAND ")
    }
    return copy
  }

  private func isExact(_ column: BaseColumn) -> Bool {
    resolver.facts.isExact(column.name, of: select.tables[column.table])
  }

  /// Whether each row has a value of its own in a column.
  private func isKey(_ column: BaseColumn) -> Bool {
    resolver.facts.tellsRowsApart(column.name, of: select.tables[column.table])
  }
}
