import GRDB
import OrderedResults

/// A table that is left out of a join, because SQLite would not search the others by what it is joined by:
/// its rows lead to owners by a value that both have, which is kept in memory.
struct LeftTable {
  /// The number by which the query knows it.
  let number: Int
  let column: String
  /// The number of another such table that has the value; nil: one that was not left out.
  let parent: Int?
  let value: Value
  /// Which index would do the same.
  let remedy: String

  /// What it is joined by, where it is joined to.
  struct Value: Equatable {
    let text: String
    let key: TableKey
  }
}

// All pairs of such a value and an owner are kept, whether the table has a row with it or not. So what is
// joined without the table depends on no row of it.
extension IncrementalAnalysis {
  private static let rowName = "\"didchange row\""

  /// Enters which value each row has of the tables that were left out, and where owners are found by it:
  /// `position` is that of the first value that is kept with owners.
  func enterValues(
    of joined: Joined, at position: Int, _ leads: inout [Lead],
    _ contributions: inout [ContributionStatement]
  ) {
    for left in joined.left {
      let parent = left.parent.flatMap { leads[$0].position }
      let first = parent.map { $0 + 1 } ?? position
      guard let offset = joined.values(of: left.parent).firstIndex(of: left.value) else { continue }
      enterValues(
        of: left, at: first + offset, with: joined.values(of: left.number), &leads, &contributions)
    }
  }

  private func enterValues(
    of left: LeftTable, at position: Int, with values: [LeftTable.Value], _ leads: inout [Lead],
    _ contributions: inout [ContributionStatement]
  ) {
    let table = leads[left.number].table
    // An unknown name alone would be a text.
    let name = { (column: String) in "\(Self.rowName).\(column.quotedIdentifier)" }
    let identity = table.identityNames.map(name)
    let write = { (condition: String?) in
      DeclaredParts.select(
        identity + values.map { name($0.text) } + [name(left.column)],
        from: "main.\(table.name.quotedIdentifier) AS \(Self.rowName)",
        conditions: [condition].compactMap(\.self), groupBy: [], having: nil)
    }
    let own = contributions.last?.positions.upperBound ?? 0
    leads[left.number].position = own
    leads[left.number].searches.append(
      .init(contribution: contributions.count, statement: Self.keyed(identity, write)))
    contributions.append(
      ContributionStatement(
        sql: write(nil), positions: own..<own + 1 + values.count,
        keys: [table.key] + values.map(\.key), tellsLoss: false,
        link: .init(position: position, value: left.value.key)))
    leads[left.number].refusal = nil
    leads[left.number].remedy = left.remedy
  }

  /// The same without one of its tables, and without what is asked of it; nil: something depends on it
  /// that cannot be kept.
  ///
  /// - Parameters:
  ///   - number: that of the table.
  ///   - joined: without those that were left out before.
  ///   - whole: the same with these; nil: rows of the table need not lead to owners.
  /// - Returns: what is joined then.
  func leavingOut(_ number: Int, of joined: Joined, from whole: Joined?) -> Joined? {
    let select = joined.select
    guard let place = joined.numbers.firstIndex(of: number),
      joined.numbers.lastIndex(of: number) == place, let source = select.source(ofTable: place),
      !(joined.ownerColumns + joined.values(of: nil).map(\.text)).contains(where: {
        select.sources(in: $0).contains(source)
      }), let rest = select.leavingOut(source: source)
    else { return nil }
    var copy = joined
    if let whole {
      guard let left = leftTable(number, of: joined, from: whole) else { return nil }
      copy.left.append(left)
    }
    copy.select = rest
    copy.numbers.remove(at: place)
    copy.own.removeAll { $0 == number }
    copy.groups = nil
    return copy
  }

  private func leftTable(_ number: Int, of joined: Joined, from whole: Joined) -> LeftTable? {
    let select = whole.select
    guard encoding == .utf8, let place = whole.numbers.firstIndex(of: number),
      select.tables[place].lack == nil, select.tables[place].storage == nil
    else { return nil }
    for equal in RowDetermination(select, db).joinedColumns where equal.column.table == place {
      let (column, other) = (equal.column, equal.other)
      let parent = joined.left.map(\.number).first { $0 == whole.numbers[other.table] }
      guard other.table != place, let own = kind(of: column, in: select),
        parent != nil || joined.numbers.contains(whole.numbers[other.table]),
        let others = kind(of: other, in: select), let collation = own.collation(with: others),
        let name = declaredName(of: column, in: select),
        let otherName = declaredName(of: other, in: select)
      else { continue }
      let text = parent == nil ? equal.text : otherName
      let value = LeftTable.Value(
        text: text, key: TableKey(columns: [text], collations: [collation]))
      let remedy =
        kept.contains(number)
        ? remedy(select.tables[place].name, name)
        : remedy(select.tables[other.table].name, otherName)
      return LeftTable(
        number: number, column: name, parent: parent, value: value, remedy: remedy)
    }
    return nil
  }

  // MARK: - Values

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

  private func remedy(_ table: String, _ name: String) -> String {
    let index = MissingIndex(table: table, column: name)
    let help = facts.isIndexed(name, of: table) ? "" : "; what may help: \(index.sql)"
    return "rows of \(table) are found by \(name) in memory\(help)"
  }
}

extension IncrementalAnalysis.Joined {
  /// The values that a table which was left out has for others, or for nil those that the rest has.
  func values(of parent: Int?) -> [LeftTable.Value] {
    left.filter { $0.parent == parent }.map(\.value)
      .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
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
