import GRDB
import OrderedResults

// Where SQLite would not find owners by a value that rows of another table are joined to them by, an
// index of the owners by that value is kept in memory. It may say too much, and never too little: every
// row of the owners' table is in it, whether it is joined or not, and is entered again when it changes.
extension IncrementalAnalysis {
  /// How the values of owners are read, and what tells owners apart.
  private struct Owners {
    /// The number of their table in the SELECT that joins them.
    let table: Int
    let from: String
    let columns: [String]
  }

  /// A value that must be the same in a row and in its owner.
  private struct CommonValue {
    let column: String
    let ownersColumn: String
    let key: TableKey
  }

  private static let rowName = "\"didchange row\""

  /// Enters how changed rows of a table lead to owners by a value that both have, if they do.
  func keepIndex(
    for number: Int, _ joined: Joined, _ leads: inout [Lead],
    _ contributions: inout [ContributionStatement]
  ) {
    guard let (owners, value) = index(for: number, joined) else { return }
    let index = enter(value, of: owners, joined, &leads, &contributions)
    let table = leads[number].table
    let identity = Self.identity(of: table)
    let write = { (condition: String?) in
      DeclaredParts.select(
        identity + [Self.name(value.column)], from: Self.source(table),
        conditions: [condition].compactMap(\.self), groupBy: [], having: nil)
    }
    let position = contributions.last?.positions.upperBound ?? 0
    leads[number].position = position
    leads[number].searches.append(
      .init(contribution: contributions.count, statement: Self.keyed(identity, write)))
    contributions.append(
      ContributionStatement(
        sql: write(nil), positions: position..<position + 1, keys: [table.key], tellsLoss: false,
        link: .init(position: index, value: value.key)))
    leads[number].refusal = nil
    leads[number].remedy = remedy(joined.select.tables[owners.table].name, value.ownersColumn)
  }

  /// Whether there is such a value.
  func canKeepIndex(for number: Int, _ joined: Joined) -> Bool {
    index(for: number, joined) != nil && joined.leavingOut(number) != nil
  }

  private func index(for number: Int, _ joined: Joined) -> (Owners, CommonValue)? {
    guard encoding == .utf8, let place = joined.numbers.firstIndex(of: number),
      isFollowable(joined.select.tables[place]), let owners = owners(joined),
      owners.table != place, isFollowable(joined.select.tables[owners.table]),
      let value = commonValue(place, owners.table, joined.select)
    else { return nil }
    return (owners, value)
  }

  private func isFollowable(_ table: BaseTable) -> Bool {
    table.lack == nil && table.storage == nil
  }

  /// Enters the index of owners by a value, where there is none like it, and returns its position.
  private func enter(
    _ value: CommonValue, of owners: Owners, _ joined: Joined, _ leads: inout [Lead],
    _ contributions: inout [ContributionStatement]
  ) -> Int {
    let write = { (condition: String?) in
      DeclaredParts.select(
        [Self.name(value.ownersColumn)] + owners.columns, from: owners.from,
        conditions: [condition].compactMap(\.self), groupBy: [], having: nil)
    }
    let sql = write(nil)
    if let known = contributions.first(where: { $0.sql == sql && $0.keys == [value.key] }) {
      return known.positions.lowerBound
    }
    let identity = Self.identity(of: joined.select.tables[owners.table])
    leads[joined.numbers[owners.table]].searches.append(
      .init(contribution: contributions.count, statement: Self.keyed(identity, write)))
    let position = contributions.last?.positions.upperBound ?? 0
    contributions.append(
      ContributionStatement(
        sql: sql, positions: position..<position + 1, keys: [value.key], tellsLoss: false))
    return position
  }

  private static func source(_ table: BaseTable) -> String {
    "main.\(table.name.quotedIdentifier) AS \(rowName)"
  }

  /// A column of ``source(_:)``; an unknown name alone would be a text.
  private static func name(_ column: String) -> String { "\(rowName).\(column.quotedIdentifier)" }

  private static func identity(of table: BaseTable) -> [String] {
    table.identityNames.map(name)
  }

  // MARK: - Owners

  /// Where all that tells owners apart is of one table; nil: it is not.
  private func owners(_ joined: Joined) -> Owners? {
    let select = joined.select
    let looking = joined.ownerColumns.filter { column in
      !ResolvedSelect.references(in: SQLTokens.tokens(of: column)[...]).isEmpty
    }
    let origins = looking.map(select.origin(of:))
    guard let table = origins.first??.table, !select.tables[table].isNullable else { return nil }
    var columns: [String] = []
    for column in joined.ownerColumns {
      guard looking.contains(column) else {
        columns.append(column)
        continue
      }
      guard let origin = select.origin(of: column), origin.table == table,
        let name = declaredName(of: origin, in: select)
      else { return nil }
      columns.append(Self.name(name))
    }
    return Owners(table: table, from: Self.source(select.tables[table]), columns: columns)
  }

  // MARK: - Values

  private func commonValue(
    _ table: Int, _ owners: Int, _ select: ResolvedSelect
  ) -> CommonValue? {
    for (column, other) in RowDetermination(select, db).joinedColumns
    where column.table == table && other.table == owners {
      guard let own = kind(of: column, in: select), let others = kind(of: other, in: select),
        let collation = own.collation(with: others),
        let name = declaredName(of: column, in: select),
        let ownersName = declaredName(of: other, in: select)
      else { continue }
      return CommonValue(
        column: name, ownersColumn: ownersName,
        key: TableKey(columns: [ownersName], collations: [collation]))
    }
    return nil
  }

  /// What may stand in a column.
  private struct Kind {
    enum Values { case numbers, texts, any }
    let values: Values
    /// nil: there is no text in it.
    let collation: Collation?

    /// How values of both are compared where that is as within each of them; nil: it is not.
    ///
    /// https://www.sqlite.org/datatype3.html#comparison_expressions
    func collation(with other: Kind) -> Collation? {
      guard values == other.values else { return nil }
      guard let collation, let others = other.collation else {
        return collation ?? other.collation ?? .binary
      }
      return collation == others ? collation : nil
    }
  }

  private func kind(of column: BaseColumn, in select: ResolvedSelect) -> Kind? {
    let table = select.tables[column.table]
    if table.rowIDColumn?.lowercased() == column.name, table.rowID != nil {
      return Kind(values: .numbers, collation: nil)
    }
    guard let comparison = facts.comparison(of: column.name, in: table.name),
      let collation = Collation(rawValue: comparison.collation)
    else { return nil }
    switch comparison.affinity {
    case .integer, .real, .numeric: return Kind(values: .numbers, collation: collation)
    case .text: return Kind(values: .texts, collation: collation)
    case .blob: return Kind(values: .any, collation: collation)
    }
  }

  /// A column as it was declared: its name is known in small letters, and SQLite tells Ä from ä.
  private func declaredName(of column: BaseColumn, in select: ResolvedSelect) -> String? {
    let table = select.tables[column.table]
    let names = facts.columns(of: table.name).filter { $0.lowercased() == column.name }
    if names.isEmpty, table.rowIDColumn?.lowercased() == column.name { return table.rowIDColumn }
    return names.count == 1 ? names[0] : nil
  }

  // MARK: - For a person

  private func remedy(_ table: String, _ column: String) -> String {
    let index = MissingIndex(table: table, column: column)
    let help = facts.isIndexed(column, of: table) ? "" : "; what may help: \(index.sql)"
    return "rows of \(table) are found by \(column) in memory\(help)"
  }
}

extension IncrementalAnalysis.Joined {
  /// The same without one of its tables, and without what is asked of it; nil: others depend on it.
  func leavingOut(_ number: Int) -> Self? {
    guard let place = numbers.firstIndex(of: number), numbers.lastIndex(of: number) == place,
      let source = select.source(ofTable: place),
      !ownerColumns.contains(where: { select.sources(in: $0).contains(source) }),
      let rest = select.leavingOut(source: source)
    else { return nil }
    var copy = self
    copy.select = rest
    copy.numbers.remove(at: place)
    copy.own.removeAll { $0 == number }
    copy.groups = nil
    return copy
  }
}

extension ResolvedSelect {
  /// The source that is a table and nothing else.
  fileprivate func source(ofTable number: Int) -> Int? {
    sources.indices.first { tables(ofSource: $0) == number..<number + 1 }
  }

  /// The same without a table of FROM, and without all conditions that look at it, which gives more rows
  /// of the others and not less; nil: others are joined by what follows from it.
  fileprivate func leavingOut(source index: Int) -> ResolvedSelect? {
    let others = sources.indices.filter { $0 != index }
    guard case .table = sources[index].body, !others.isEmpty,
      !others.contains(where: { sources[$0].hasUsing || looks(sources[$0], at: index) })
    else { return nil }
    var rest = sources
    for other in sources.indices {
      guard case .on(let condition) = sources[other].constraint else { continue }
      rest[other].constraint = self.condition(condition, without: index).map { .on($0) } ?? .none
    }
    rest.remove(at: index)
    var syntax = syntax
    syntax.predicate = syntax.predicate.flatMap { condition($0, without: index) }
    if index == 0 {
      if rest[0].isLeftJoined { return nil }
      let conditions = [syntax.predicate, rest[0].condition].compactMap { $0?.parenthesized }
      syntax.predicate = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
      rest[0].constraint = .none
    }
    return ResolvedSelect(syntax: syntax, sources: rest)
  }

  /// Whether a function is called with what another source has.
  private func looks(_ source: ResolvedSource, at index: Int) -> Bool {
    switch source.body {
    case .function(let arguments), .search(_, let arguments?):
      sources(in: arguments, allowingAliases: false).contains(index)
    case .table, .search, .select: false
    }
  }

  private func condition(_ text: String, without source: Int) -> String? {
    let tokens = SQLTokens.tokens(of: text)[...]
    let conjuncts = tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts
    let others = conjuncts.filter { conjunct in
      !sources(in: conjunct, allowingAliases: false).contains(source)
    }
    return others.isEmpty ? nil : others.map(\.sourceText).joined(separator: "\nAND ")
  }
}
