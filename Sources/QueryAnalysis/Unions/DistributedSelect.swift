import GRDB

/// A SELECT over a view, a CTE or a subquery of FROM that UNION ALL or UNION makes, as a compound of SELECTs
/// each of which is over one of its arms.
///
/// What is joined to the whole is joined to each arm, and conditions are asked of the rows of each. So the
/// records are the same where columns compare alike in all arms: ``check(_:)`` sees to that.
struct DistributedSelect {
  /// The member of FROM that UNION makes.
  let source: Int
  let compound: CompoundSelect
  /// The columns by which UNION takes records for equal; nil: by all.
  let exactColumns: Set<Int>?
  /// The expressions whose columns have to compare alike.
  private let expressions: [String]
  /// Whether SQLite may keep the whole as a table, whose columns have a type.
  private let isJoined: Bool
  private let names: [String]
  private let alias: String

  private static let armName = "didchange arm"

  private let isDistinct: Bool

  /// - Returns: nil where it is another SELECT, or makes groups.
  /// - Throws: ``NotIncremental`` where it would not be the same.
  init?(_ candidate: IncrementalCandidate, _ functions: FunctionList, _ facts: SchemaFacts) throws {
    let syntax = candidate.syntax
    let found = syntax.sources.indices.compactMap { index in
      CompoundSource(syntax.sources[index], in: syntax, facts).map { (index, $0) }
    }
    guard let (source, inner) = found.first, found.count == 1, syntax.groupBy.isEmpty,
      syntax.having == nil,
      !syntax.columns.contains(where: { functions.callsAggregate($0.expression) })
    else { return nil }
    try inner.check(syntax, orderIsFree: candidate.orderIsFree)
    try Self.checkJoins(syntax, source)
    names = try inner.names(in: syntax, facts)
    alias = syntax.sources[source].alias ?? inner.name
    isDistinct = syntax.isDistinct
    isJoined = syntax.sources.count > 1
    (self.source, expressions) = (
      source,
      syntax.expressionsOverColumns.flatMap(syntax.withWhatItNames)
        + candidate.list.hidden.filter { SQLTokens.tokens(of: $0).columnName == nil }
    )
    exactColumns =
      syntax.isDistinct || inner.compound.kind != .union
      ? nil : try Self.columns(showing: names, of: alias, in: syntax)
    compound = CompoundSelect(
      arms: inner.compound.texts.map { [names, alias] text in
        var arm = syntax
        arm.isDistinct = false
        arm.commonTables.append(
          CommonTable(name: Self.armName, columns: names, select: text))
        arm.sources[source] = SourceSyntax(
          origin: .table(schema: nil, name: Self.armName), alias: alias,
          constraint: syntax.sources[source].constraint)
        return arm
      }, kind: syntax.isDistinct ? .union : inner.compound.kind, texts: [])
  }

  /// Rows of the whole are joined like those of an arm, unless one is missed.
  private static func checkJoins(_ syntax: SelectSyntax, _ source: Int) throws(NotIncremental) {
    guard syntax.joinsByConditions, !syntax.sources[source].isLeftJoined else {
      throw NotIncremental(
        reason:
          "what UNION makes is joined by LEFT JOIN, RIGHT JOIN, FULL JOIN, USING or NATURAL: write it first, and ON"
      )
    }
  }

  /// The columns of the list that show those of UNION, which is all that is shown: else what UNION makes one
  /// record may be several in the list.
  private static func columns(
    showing names: [String], of alias: String, in syntax: SelectSyntax
  ) throws(NotIncremental) -> Set<Int> {
    if syntax.sources.count == 1, syntax.columns.count == 1, syntax.columns[0].kind == .all {
      return Set(names.indices)
    }
    let shown = syntax.columns.map { column -> String? in
      guard column.kind == .expression,
        let name = SQLTokens.tokens(of: column.expression).columnName,
        name.qualifier?.isSameIdentifier(as: alias) != false
      else { return nil }
      return name.name
    }
    let positions = names.map { name in
      shown.firstIndex { $0?.isSameIdentifier(as: name) == true }
    }
    guard syntax.sources.count == 1, !syntax.columns.contains(where: { $0.kind != .expression }),
      !positions.contains(nil)
    else {
      throw NotIncremental(
        reason: """
          UNION in a view or a subquery makes one record of several rows, and not all of its columns are shown
          """)
    }
    return Set(positions.compactMap(\.self))
  }

  /// The terms of the order that no visible column shows.
  ///
  /// - Throws: ``NotIncremental`` where which of several values of a record counts is not certain.
  func hiddenOrder(_ order: [String], _ list: SelectList) throws(NotIncremental) -> [String] {
    let hidden = order.map(OrderTerm.init).filter { list.position(ofOrder: $0) == nil }
    guard !isDistinct || hidden.isEmpty else {
      throw NotIncremental(
        reason: "DISTINCT orders by what it does not show: \(hidden[0].expression)")
    }
    return hidden.map(\.expression.withoutTextInQuotationMarks)
  }

  // MARK: - Columns of all arms

  /// - Throws: ``NotIncremental`` where SQLite may compare, or show, a column otherwise than that of an arm.
  func check(_ arms: [IncrementalAnalysis]) throws {
    let used = expressions.flatMap {
      ResolvedSelect.references(in: SQLTokens.tokens(of: $0)[...])
    }.filter { $0.qualifier?.isSameIdentifier(as: alias) != false }
    for (column, name) in names.enumerated() {
      let kinds = arms.map { Kind(ofColumn: column, of: source, $0) }
      let isReal = kinds.contains { $0.affinity == nil || $0.affinity == .real }
      guard !isReal || kinds.allSatisfy({ $0.affinity == .real }) else {
        throw NotIncremental(
          reason:
            "\(name) is a real number in one SELECT of UNION, and may not be in another: SQLite may show 1.0 for 1"
        )
      }
      let isUsed = used.contains { $0.name.isSameIdentifier(as: name) }
      guard isUsed || isJoined else { continue }
      guard let first = kinds.first, !isUsed || first.comparison != .unknown,
        kinds.allSatisfy({ kind in
          kind.affinity == first.affinity
            && (!isUsed || kind.comparison == first.comparison && kind.collation == first.collation)
        })
      else {
        throw NotIncremental(
          reason: """
            \(name) has another type or collation in one SELECT of UNION than in another, and the query \
            \(isUsed ? "compares it: SQLite may compare it in either way" : "joins it: SQLite may show it in either")
            """)
      }
    }
  }

  /// How the values of a column compare in one arm.
  private struct Kind {
    enum Comparison { case numbers, texts, any, none, unknown }
    let comparison: Comparison
    let collation: String
    /// What SQLite makes of values that are kept in such a column; nil: not known.
    let affinity: ColumnAffinity?

    init(ofColumn column: Int, of source: Int, _ arm: IncrementalAnalysis) {
      guard case .select(let inner, _) = arm.select.sources[source].body,
        let expression = inner.expandedColumns?[column].expression
      else {
        (comparison, collation, affinity) = (.unknown, "", nil)
        return
      }
      if let origin = inner.origin(of: expression) {
        let table = inner.tables[origin.table]
        let own = arm.facts.comparison(of: origin.name, in: table.name)
        let isRowID = table.rowIDColumn?.lowercased() == origin.name
        affinity = own?.affinity ?? (isRowID ? .integer : nil)
        collation = own?.collation ?? "BINARY"
        switch affinity {
        case .integer, .numeric, .real: comparison = .numbers
        case .text: comparison = .texts
        case .blob: comparison = .any
        case nil: comparison = .unknown
        }
        return
      }
      let tokens = SQLTokens.tokens(of: inner.expression(shownBy: expression))[...]
        .withoutParentheses
      let hasNone = tokens.isLiteral || Array(tokens).isOneCall || tokens.isOneCase
      let isWritten = tokens.contains { $0.isWord("COLLATE") }
      (comparison, collation, affinity) = (
        hasNone && !isWritten ? .none : .unknown, "BINARY", tokens.affinity
      )
    }
  }
}

extension ArraySlice<SQLToken> {
  fileprivate var isLiteral: Bool {
    count == 1
      && first.map { [.string, .number].contains($0.kind) || $0.isWord("NULL") } == true
  }

  /// The affinity of an expression that is no column; nil: not known. Of its own only CAST has one, and the
  /// value of a subquery that of what it shows: https://www.sqlite.org/datatype3.html#affinity_of_expressions
  fileprivate var affinity: ColumnAffinity? {
    let tokens = withoutParentheses
    if tokens.isLiteral || Array(tokens).isOneCall || tokens.isOneCase { return .blob }
    if let type = tokens.typeOfCast { return ColumnAffinity(declaredType: type.sourceText) }
    if tokens.first?.isWord("SELECT") == true {
      let parts = try? SelectParser.parseParts(tokens.sourceText)
      let shown = parts?.first?.columns.first?.expression
      return shown.flatMap { SQLTokens.tokens(of: $0)[...].affinity }
    }
    return tokens.columnName == nil && !tokens.contains { $0.isWord("COLLATE") } ? .blob : nil
  }
}

extension SelectSyntax {
  /// An expression, and what stands for the result columns that it may name.
  fileprivate func withWhatItNames(_ expression: String) -> [String] {
    let names = ResolvedSelect.references(in: SQLTokens.tokens(of: expression)[...])
    return [expression]
      + columns.filter { column in
        names.contains { name in
          name.qualifier == nil && column.alias?.isSameIdentifier(as: name.name) == true
        }
      }.map(\.expression)
  }

  /// The expressions that are more than columns: what they look at is compared, or computed with.
  fileprivate var expressionsOverColumns: [String] {
    let isMore = { (expression: String) in SQLTokens.tokens(of: expression).columnName == nil }
    let conditions = sources.compactMap { source in
      if case .on(let condition) = source.constraint { condition } else { nil }
    }
    return columns.filter { $0.kind == .expression }.map(\.expression).filter(isMore)
      + order.map { OrderTerm($0).expression }.filter(isMore)
      + conditions + [predicate].compactMap(\.self)
  }
}
