/// What the names in a subquery may mean: the sources of its own FROM, then those around it.
///
/// https://www.sqlite.org/lang_select.html#fromclause
struct NameScopes {
  /// A SELECT, and the names that its sources have where all of them are joined.
  struct Level {
    var select: ResolvedSelect
    let aliases: [String]

    func owners(of name: ColumnName) -> [Int] {
      select.sources.indices.filter { select.sources[$0].mayOwn(name) }
    }
  }

  /// The outermost first.
  private(set) var levels: [Level] = []

  /// Adds the sources of a SELECT within those that are there.
  mutating func enter(_ select: ResolvedSelect, named aliases: [String]) {
    levels.append(Level(select: select, aliases: aliases))
  }

  /// The same where a row of one source of the innermost SELECT is there, though a LEFT JOIN may leave
  /// it out elsewhere.
  func requiring(source index: Int) -> NameScopes {
    guard let level = levels.last, level.select.sources[index].isLeftJoined else { return self }
    var sources = level.select.sources
    sources[index] = sources[index].required
    var copy = self
    copy.levels[levels.count - 1].select = ResolvedSelect(
      syntax: level.select.syntax, sources: sources)
    return copy
  }

  /// Whether a name may be that of a column.
  func knows(_ name: ColumnName) -> Bool { levels.contains { !$0.owners(of: name).isEmpty } }

  /// Whether none of these names is that of a column of the innermost SELECT, though some are columns
  /// of those around it.
  func areOutside(_ names: [ColumnName]) -> Bool {
    let owners = names.compactMap { name in
      levels.lastIndex { level in !level.owners(of: name).isEmpty }
    }
    return !owners.isEmpty && !owners.contains(levels.count - 1)
  }

  /// Whether rows that are joined fulfil a condition by themselves: it looks at no subquery, at nothing
  /// that depends on what is searched for, and at what a LEFT JOIN leaves out only if nothing fulfils it
  /// that is NULL.
  func isCertain(_ tokens: ArraySlice<SQLToken>, rejectingNull: Bool) -> Bool {
    tokens.withoutSubqueries.count == tokens.count && !tokens.callsSearchFunction
      && ResolvedSelect.references(in: tokens).allSatisfy { name in
        let level = levels.last { !$0.owners(of: name).isEmpty }
        return level?.select.isCertain(name, rejectingNull: rejectingNull) != false
      }
  }

  /// What an FTS5 table is called with where all sources are joined; nil: that is not certain, and the
  /// table has every document.
  func certainArguments(_ arguments: String) -> String? {
    let tokens = SQLTokens.tokens(of: arguments)[...]
    return isCertain(tokens, rejectingNull: false) ? qualified(tokens) : nil
  }

  /// The same condition where all sources are joined, without what is not certain of it; nil: nothing
  /// is left.
  func certainCondition(_ condition: String) -> String? {
    let tokens = SQLTokens.tokens(of: condition)[...]
    let conjuncts = tokens.conjuncts
    guard !conjuncts.isEmpty else {
      return isCertain(tokens, rejectingNull: false) ? qualified(tokens)?.parenthesized : nil
    }
    let certain = conjuncts.filter { isCertain($0, rejectingNull: $0.rejectsNull) }
      .compactMap(qualified)
    return certain.isEmpty ? nil : certain.joined(separator: "\nAND ")
  }

  /// A column as it can be written within another SELECT; nil: its source's name means another there.
  func written(_ name: ColumnName, within inner: ResolvedSelect) -> String? {
    guard let index = levels.lastIndex(where: { !$0.owners(of: name).isEmpty }) else { return nil }
    let owners = levels[index].owners(of: name)
    guard owners.count == 1 else { return nil }
    let source = levels[index].select.sources[owners[0]].name
    let between = levels[(index + 1)...].map(\.select) + [inner]
    if between.contains(where: { $0.sources.contains { $0.isNamed(source) } }) { return nil }
    return "\(source.quotedIdentifier).\(name.name.quotedIdentifier)"
  }

  /// The table and the column that a name in the innermost SELECT means, where a row of the table is
  /// always there; nil: none, or not certain.
  func requiredColumn(_ name: ColumnName) -> (table: BaseTable, column: String)? {
    guard let level = levels.last(where: { !$0.owners(of: name).isEmpty }),
      let origin = level.select.origin(of: name)
    else { return nil }
    let table = level.select.tables[origin.table]
    return table.isNullable ? nil : (table, origin.name)
  }

  /// An expression of the innermost SELECT as it is written where all sources are joined; nil: what
  /// one of its names means is not certain.
  func qualified(_ expression: String) -> String? {
    qualified(SQLTokens.tokens(of: expression)[...])
  }

  func qualified(_ tokens: ArraySlice<SQLToken>) -> String? {
    guard let first = tokens.first, let last = tokens.last else { return "" }
    let text = first.text.base
    var result = ""
    var end = first.text.startIndex
    for (index, token) in zip(tokens.indices, tokens) {
      guard let name = ResolvedSelect.reference(at: index, in: tokens),
        !tokens[..<index].endsBeforeType
      else { continue }
      guard let owner = owner(of: name) else { return nil }
      guard case .source(let alias) = owner else {
        // A text, which would be a column where there is one of that name.
        if token.text.first == "\"" { return nil }
        continue
      }
      let replaced = name.qualifier == nil ? token : tokens[index - 2]
      result += text[end..<replaced.text.startIndex] + alias.quotedIdentifier
      if name.qualifier == nil { result += "." + token.text }
      end = (name.qualifier == nil ? token : replaced).text.endIndex
    }
    return result + text[end..<last.text.endIndex]
  }

  private enum Owner {
    case source(String)
    /// It is no column of theirs: a keyword, or a text.
    case none
  }

  /// Whose column a name is; nil: not certain.
  private func owner(of name: ColumnName) -> Owner? {
    for level in levels.reversed() {
      let owners = level.owners(of: name)
      if let first = owners.first {
        // USING joins columns of one name to one, which is that of the first source.
        let isJoined =
          level.select.sources.contains(where: \.hasUsing)
          && level.select.sources[first].has(column: name.name)
        return owners.count == 1 || isJoined ? .source(level.aliases[first]) : nil
      }
      // An alias is looked for after the columns, and before the SELECT around this one.
      let aliases = level.select.syntax.columns.compactMap(\.possibleAlias)
      if name.qualifier == nil, aliases.contains(where: name.name.isSameIdentifier) { return nil }
    }
    return Owner.none
  }
}

extension ArraySlice<SQLToken> {
  /// Whether the next word is a type or a collation.
  fileprivate var endsBeforeType: Bool {
    last.map { $0.isWord("AS") || $0.isWord("COLLATE") } == true
  }
}
