import OrderedResults

/// One of the SELECTs that UNION ALL or UNION joins: each of its rows is a record, or that of all rows with
/// the same values, and is owned by a row of a table.
struct UnionArm {
  let analysis: IncrementalAnalysis
  let number: Int
  /// The number of the table whose rows own its records.
  let owner: Int
  /// What tells its records apart, as expressions: the owner's rowid or key first.
  let identity: [String]

  /// - Parameters:
  ///   - analysis: what is known of the SELECT.
  ///   - kind: what makes one statement of the arms. Equal records of UNION need not be told apart.
  ///   - number: its number among the arms.
  /// - Throws: ``NotIncremental`` where its records cannot be led back to rows.
  init(_ analysis: IncrementalAnalysis, of kind: CompoundSelect.Kind, number: Int) throws {
    guard !analysis.select.isGrouped, analysis.windows.functions.isEmpty else {
      let word = kind == .fullJoin ? "with" : "of"
      throw NotIncremental(
        reason: "a SELECT \(word) \(kind.rawValue) has groups, DISTINCT or window functions")
    }
    if let function = analysis.select.functionNames.first {
      throw NotIncremental(
        reason: "a SELECT of \(kind.rawValue) has a table-valued function, \(function)")
    }
    self.number = number
    var refusal: NotIncremental?
    for keeping in IncrementalAnalysis.Keeping.allCases {
      let owners = analysis.possibleOwners
      for owner in owners.prefix(
        keeping == .none ? owners.count : IncrementalAnalysis.mostTriedKeeping)
      {
        do {
          let searched = try Self.searched(analysis, by: owner, number, keeping)
          // The second SELECT of a FULL JOIN has no rows of the other table.
          let isOneEach = kind == .union || kind == .fullJoin && number > 0
          let others = isOneEach ? [] : try Self.others(owner, analysis)
          (self.analysis, self.owner) = (searched, owner)
          identity = analysis.select.tables[owner].identity + others
          return
        } catch let error as NotIncremental {
          refusal = refusal ?? error
        }
      }
      if refusal?.unsearched == nil { break }
    }
    throw refusal
      ?? NotIncremental(
        reason: analysis.select.tables.first?.lack ?? "a LEFT JOIN may leave out each of its tables"
      )
  }

  /// The SELECT such that its records are found from a table's rows by searches.
  private static func searched(
    _ analysis: IncrementalAnalysis, by owner: Int, _ number: Int,
    _ keeping: IncrementalAnalysis.Keeping
  ) throws -> IncrementalAnalysis {
    let identity = analysis.select.tables[owner].identity
    let condition = identity.map { "\($0) = ?" }.joined(separator: " AND ")
    var analysis = analysis
    let check = { (analysis: IncrementalAnalysis) in
      try analysis.checkSearches(analysis.statement(of: analysis.narrowed, condition: condition))
    }
    try analysis.keepRows(keeping, besides: [owner], until: check)
    if !analysis.kept.isEmpty, let refusal = analysis.subqueries.tieRefusal { throw refusal }
    if keeping != .none {
      _ = try analysis.leads(owner: owner, ownerColumns: ["\(number)"] + identity)
    }
    return analysis
  }

  /// The rowids or keys of the tables of which several rows may go with one of the owner.
  private static func others(_ owner: Int, _ analysis: IncrementalAnalysis) throws -> [String] {
    var known: Set<Int> = [owner]
    return try analysis.select.tables.indices.flatMap { number -> [String] in
      if analysis.determination.closure(of: known).contains(number) { return [] }
      let table = analysis.select.tables[number]
      guard !table.identity.isEmpty else {
        throw NotIncremental(reason: table.lack ?? "the rows of \(table.name) cannot be told apart")
      }
      known.insert(number)
      return table.identity
    }
  }

  /// Whether there is one record at most for each row of the owner.
  var isOneRecordAnOwner: Bool { identity.count == ownIdentity.count }

  /// The key of the owner's table; nil: it has rowids.
  var key: TableKey? { analysis.select.tables[owner].key }

  /// The owner's rowid or key.
  private var ownIdentity: [String] { analysis.select.tables[owner].identity }

  /// The values that its owner has among those of all arms.
  var ownerColumns: [String] { ["\(number)"] + ownIdentity }

  // MARK: - Columns

  /// Whether these columns identify its rows.
  func isIdentified(by columns: [Int]) -> Bool {
    let known = analysis.determination.identified(by: analysis.origins(columns))
    return analysis.determination.closure(of: known).count == analysis.select.tables.count
  }

  /// Whether these columns show the rowid of its owner.
  func isOwnerShown(by columns: [Int]) -> Bool {
    columns.contains { analysis.isRowID($0) && analysis.origin(ofColumn: $0)?.table == owner }
  }

  /// What is shown in a column, down to where a view or a subquery has it; none: not certain.
  func tokens(ofColumn position: Int) -> ArraySlice<SQLToken> {
    let expression = analysis.expression(ofColumn: position).map(
      analysis.select.expression(shownBy:))
    return (expression.map(SQLTokens.tokens) ?? [])[...].withoutParentheses
  }

  /// The text that a column has in all its records; nil: none.
  func text(inColumn position: Int) -> Substring? {
    let tokens = tokens(ofColumn: position)
    return tokens.count == 1 && tokens.first?.kind == .string ? tokens.first?.text : nil
  }

  /// Whether a column is written as a literal, or as a rowid: SQLite knows no collation of these.
  func hasNoCollation(_ position: Int) -> Bool {
    let tokens = analysis.expression(ofColumn: position).map(SQLTokens.tokens) ?? []
    if tokens.count == 1, [.string, .number].contains(tokens[0].kind) { return true }
    guard let origin = analysis.origin(ofColumn: position) else { return false }
    return analysis.isRowID(position) && isOfTable(origin)
  }

  /// - Throws: ``NotIncremental`` where it is not known.
  func collation(ofColumn position: Int, written: String?) throws -> Collation {
    // That of a view, whose columns have one.
    let tokens = tokens(ofColumn: position)
    let isLiteral =
      tokens.count == 1
      && tokens.first.map { [.string, .number].contains($0.kind) || $0.isWord("NULL") } == true
    if isLiteral { return try analysis.collation(ofColumn: position, written: written ?? "BINARY") }
    return try analysis.collation(ofColumn: position, written: written)
  }

  /// Whether a column is written as one of a table, and not of a view or a subquery.
  func isOfTable(_ column: BaseColumn) -> Bool {
    let select = analysis.select
    return select.sources.indices.contains { index in
      select.tables(ofSource: index).contains(column.table) && !select.sources[index].isRewritten
    }
  }

  // MARK: - Statements

  static func width(_ arms: [UnionArm]) -> Int { arms.map(\.ownIdentity.count).max() ?? 1 }

  /// Names the values of an owner, which are the statement's parameters without names.
  static func owner(of arms: [UnionArm]) -> String {
    let names = ["arm"] + (0..<width(arms)).map { "row\($0)" }
    let values = names.map { _ in "?" }.joined(separator: ", ")
    return """
      WITH \(IncrementalAnalysis.ownerName)(\(names.joined(separator: ", "))) AS NOT MATERIALIZED (SELECT \(values))

      """
  }

  /// The records of the owner that is asked for, if that is one of these.
  func records(_ hidden: [HiddenColumn]) -> String {
    let owner = IncrementalAnalysis.ownerName
    let conditions = ownIdentity.enumerated().map { index, expression in
      "\(expression) = (SELECT row\(index) FROM \(owner))"
    }
    let records = body(
      hidden, of: analysis.narrowed,
      condition: (["(SELECT arm FROM \(owner)) = \(number)"] + conditions).joined(
        separator: " AND "))
    return analysis.kept.isEmpty ? records : naming(records)
  }

  /// The same with the parameters that take rowids as they are named among those of all arms.
  func naming(_ sql: String) -> String {
    let name = IncrementalAnalysis.keptName
    return sql.replacing(name, with: "\(name)\(number)_")
  }

  /// The SELECT with hidden columns behind its own.
  func body(
    _ hidden: [HiddenColumn], of select: ResolvedSelect? = nil, condition: String? = nil
  ) -> String {
    let isNarrowed = select != nil
    let written = { isNarrowed ? analysis.subqueries.narrowed(expression: $0) : $0 }
    return analysis.body(
      analysis.select.columns.map { written($0.text) }
        + hidden.map { $0.text(ofArm: number, written) }, of: select, condition: condition)
  }

  /// Its rows, and the values that they have.
  func appearances(_ hidden: [HiddenColumn], width: Int) -> String {
    let identity = ownIdentity.map(\.parenthesized)
    let padding = Array(repeating: "NULL", count: width - identity.count)
    return analysis.body(
      ["\(number)"] + identity + padding + analysis.select.columns.map(\.text)
        + hidden.map { $0.text(ofArm: number) { $0 } })
  }
}

/// A column that only the engine sees, and what it is in each of UNION's SELECTs.
struct HiddenColumn {
  let name: String
  let expressions: [String]

  func text(ofArm number: Int, _ write: (String) -> String) -> String {
    "\(write(expressions[number]).parenthesized) AS \(name)"
  }
}
