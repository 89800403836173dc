/// What a subquery beside GROUP BY looks at of a group, and whether it leaves the values alone.
///
/// SQLite holds the columns of a group in registers. What searches an index by one, or looks for one in
/// a list, applies the affinity of what it is compared with to the register, for all that is read behind
/// it: the text '2' is a number from there on if an INTEGER equals it. So what a group shows would depend
/// on SQLite's plan: https://www.sqlite.org/datatype3.html#affinity
struct GroupRegisters {
  /// What names mean within the subquery; the outermost level is that of the groups.
  let names: NameScopes
  let part: SelectSyntax
  /// The same with its sources.
  let select: ResolvedSelect
  let facts: SchemaFacts

  /// The columns of the group that the subquery looks at, but for subqueries in it.
  ///
  /// - Throws: ``NotIncremental`` where these are not certain, or their values may become others.
  func columns() throws(NotIncremental) -> Set<BaseColumn> {
    let texts = part.expressions + part.groupBy + select.sources.compactMap(\.arguments)
    var columns: Set<BaseColumn> = []
    for name in texts.flatMap(Self.references) where isOfGroup(name) {
      guard let column = names.levels[0].select.origin(of: name) else {
        throw NotIncremental(
          reason: "what \(name.name) shows of a group is not certain, and a subquery looks at it")
      }
      columns.insert(column)
    }
    for source in select.sources {
      if case .select(let inner, _) = source.body { try checkLooksAtNoGroup(inner) }
    }
    try checkComparisons()
    return columns
  }

  /// Checks `operand IN (SELECT …)`.
  ///
  /// - Parameters:
  ///   - operand: nil: where it begins is not certain.
  ///   - around: what names mean before IN.
  /// - Throws: ``NotIncremental`` where a value of the group may become another.
  func check(
    _ operand: ArraySlice<SQLToken>?, isMemberFor around: NameScopes
  ) throws(NotIncremental) {
    guard let operand else {
      throw NotIncremental(
        reason: "what stands before IN is no column: put it in parentheses")
    }
    for name in ResolvedSelect.references(in: operand) where around.level(of: name) == 0 {
      let affinity = affinity(of: name, in: around)
      for item in select.expandedColumns?.map(\.expression) ?? ["CAST"]
      where Self.changes(affinity, listed: self.affinity(of: item)) {
        throw Self.refusal(name, item)
      }
    }
  }

  // MARK: - Comparisons

  /// A search may be by what stands in a condition: of HAVING, too, which SQLite moves to WHERE.
  private func checkComparisons() throws(NotIncremental) {
    let conditions =
      select.sources.compactMap(\.condition) + [part.predicate, part.having].compactMap(\.self)
    var compared: [ColumnName] = []
    var joined = select.sources.flatMap(\.joinedColumns)
    for term in conditions.flatMap(Self.terms) {
      let columns = Self.references(in: term).filter(names.knows)
      compared += columns.filter(isOfGroup)
      if columns.count > 1 { joined += columns }
      for column in columns where isOfGroup(column) {
        let affinity = affinity(of: column, in: names)
        for other in columns where other != column {
          if Self.changes(affinity, searching: self.affinity(of: other, in: names)) {
            throw Self.refusal(column, other.name)
          }
        }
        if SQLTokens.tokens(of: term).contains(where: { $0.isWord("CAST") }) {
          throw Self.refusal(column, term)
        }
      }
    }
    // What equals a number that equals the group's is searched by the group's.
    guard let real = joined.first(where: { affinity(of: $0, in: names) == .real }),
      let column = compared.first(where: { affinity(of: $0, in: names)?.isOfText != true })
    else { return }
    throw Self.refusal(column, real.name)
  }

  /// The conditions that AND joins.
  private static func terms(_ condition: String) -> [String] {
    let terms = SQLTokens.tokens(of: condition)[...].conjuncts.map(\.sourceText)
    return terms.isEmpty ? [condition] : terms
  }

  /// Whether a search in a column of this type may change a register.
  private static func changes(_ value: ColumnAffinity?, searching other: ColumnAffinity?) -> Bool {
    switch other {
    case .text, .blob: false
    case .integer, .numeric: value != .integer && value != .numeric
    case .real, nil: true
    }
  }

  /// Whether to look for it in a list of this type may change a register.
  private static func changes(_ value: ColumnAffinity?, listed item: ColumnAffinity?) -> Bool {
    switch value {
    case .integer, .numeric: false
    case .text, .blob: item?.isOfText != true
    case .real, nil: true
    }
  }

  private static func refusal(_ name: ColumnName, _ other: String) -> NotIncremental {
    NotIncremental(
      reason: """
        a subquery beside GROUP BY compares \(name.name) with \(other), which may change the type that \
        the group shows: declare both with the same type
        """)
  }

  // MARK: - Names

  private func isOfGroup(_ name: ColumnName) -> Bool { names.level(of: name) == 0 }

  private static func references(in expression: String) -> [ColumnName] {
    ResolvedSelect.references(in: SQLTokens.tokens(of: expression)[...].withoutSubqueries[...])
  }

  /// A SELECT in FROM may look at what is around the subquery, too.
  private func checkLooksAtNoGroup(_ inner: ResolvedSelect) throws(NotIncremental) {
    let aliases = inner.syntax.columns.compactMap(\.possibleAlias)
    for name in (inner.syntax.expressions + inner.syntax.groupBy).flatMap(Self.references)
    where isOfGroup(name) && !inner.sources.contains(where: { $0.mayOwn(name) })
      && !(name.qualifier == nil && aliases.contains(where: name.name.isSameIdentifier))
    {
      throw NotIncremental(
        reason: "\(name.name) may be a column of a group around a subquery in FROM")
    }
    for source in inner.sources {
      if case .select(let inner, _) = source.body { try checkLooksAtNoGroup(inner) }
    }
  }

  /// How values of an expression are compared; those that have no affinity are like BLOB. nil: not
  /// certain.
  private func affinity(of expression: String) -> ColumnAffinity? {
    let tokens = SQLTokens.tokens(of: expression)
    if let name = tokens.columnName, names.knows(name) { return affinity(of: name, in: names) }
    let words = ["CAST", "SELECT", "COLLATE"]
    return tokens.contains { words.contains(where: $0.isWord) } ? nil : .blob
  }

  private func affinity(of name: ColumnName, in names: NameScopes) -> ColumnAffinity? {
    guard let select = names.level(of: name).map({ names.levels[$0].select }) else { return nil }
    guard let origin = select.origin(of: name) else {
      return select.isOfFunction(name) ? .blob : nil
    }
    let table = select.tables[origin.table]
    if table.rowID != nil, origin.name == table.rowIDColumn?.lowercased() { return .integer }
    return facts.comparison(of: origin.name, in: table.name)?.affinity
  }
}

extension ColumnAffinity {
  fileprivate var isOfText: Bool { self == .text || self == .blob }
}

extension NameScopes {
  /// The number of the SELECT, from the outermost, of which a name may be a column.
  fileprivate func level(of name: ColumnName) -> Int? {
    levels.lastIndex { !$0.owners(of: name).isEmpty }
  }
}

extension ResolvedSelect {
  fileprivate func isOfFunction(_ name: ColumnName) -> Bool {
    sources.filter { $0.mayOwn(name) }.allSatisfy(\.isFunction)
  }
}

extension ResolvedSource {
  /// The columns of USING.
  fileprivate var joinedColumns: [ColumnName] {
    guard case .using(let columns) = constraint else { return [] }
    return columns.map { ColumnName(qualifier: name, name: $0) }
  }
}
