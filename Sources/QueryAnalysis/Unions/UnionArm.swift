/// One of the SELECTs that UNION ALL joins: each of its rows is a record, owned by a row of a table.
struct UnionArm {
  let analysis: IncrementalAnalysis
  let number: Int
  /// The rowids that tell its records apart, the owner's first.
  let identity: [String]

  /// - Throws: ``NotIncremental`` where its records cannot be led back to rows.
  init(
    _ analysis: IncrementalAnalysis, of kind: UnionCandidate.Kind, number: Int
  ) throws {
    guard !analysis.select.isGrouped, analysis.windows.functions.isEmpty else {
      let arm = kind == .fullJoin ? "a SELECT with a FULL JOIN" : "a SELECT of UNION ALL"
      throw NotIncremental(reason: "\(arm) has groups, DISTINCT or window functions")
    }
    guard analysis.encoding == .utf8 else {
      throw NotIncremental(
        reason: "the database holds text in UTF-16, and it is \(kind.rawValue)")
    }
    self.number = number
    var refusal: NotIncremental?
    for keepsRows in [false, true] {
      let owners = analysis.possibleOwners
      for owner in keepsRows ? owners.prefix(IncrementalAnalysis.mostTriedKeeping) : owners[...] {
        do {
          (self.analysis, identity) = try Self.owned(
            by: owner, analysis, number, keepsRows: keepsRows)
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

  /// The SELECT where a table's rows own its records, and what tells these apart.
  private static func owned(
    by owner: Int, _ analysis: IncrementalAnalysis, _ number: Int, keepsRows: Bool
  ) throws -> (IncrementalAnalysis, [String]) {
    guard let rowID = analysis.select.tables[owner].rowID else {
      throw NotIncremental(reason: lackOfRowID(analysis.select.tables[owner].name))
    }
    var analysis = analysis
    let check = { (analysis: IncrementalAnalysis) in
      try analysis.checkSearches(
        analysis.statement(of: analysis.narrowed, condition: "\(rowID) = ?"))
    }
    if keepsRows {
      try analysis.keepRows(besides: [owner], until: check)
    } else {
      try check(analysis)
    }
    if keepsRows { _ = try analysis.leads(owner: nil, ownerColumns: ["\(number)", rowID]) }
    return (analysis, try [rowID] + others(owner, analysis))
  }

  private static func lackOfRowID(_ table: String) -> String {
    "\(table) is a table WITHOUT ROWID, in UNION ALL"
  }

  /// The rowids of the tables of which several rows may go with one of the owner.
  private static func others(_ owner: Int, _ analysis: IncrementalAnalysis) throws -> [String] {
    var known: Set<Int> = [owner]
    return try analysis.select.tables.indices.compactMap { table in
      if analysis.determination.closure(of: known).contains(table) { return nil }
      guard let rowID = analysis.select.tables[table].rowID else {
        throw NotIncremental(
          reason: analysis.select.tables[table].lack
            ?? lackOfRowID(analysis.select.tables[table].name))
      }
      known.insert(table)
      return rowID
    }
  }

  /// Whether these columns show the rowid of its owner.
  func isOwnerShown(by columns: [Int]) -> Bool {
    columns.contains { column in
      guard analysis.isRowID(column), let origin = analysis.origin(ofColumn: column) else {
        return false
      }
      return analysis.select.tables[origin.table].rowID == identity[0]
    }
  }

  /// The values that its owner has among those of all arms.
  var ownerColumns: [String] { ["\(number)", identity[0]] }

  /// Whether these columns identify its rows.
  func isIdentified(by columns: [Int]) -> Bool {
    let known = analysis.determination.identified(by: analysis.origins(columns))
    return analysis.determination.closure(of: known).count == analysis.select.tables.count
  }

  /// The text that a column has in all its records; nil: none.
  func text(inColumn position: Int) -> Substring? {
    let tokens = analysis.expression(ofColumn: position).map(SQLTokens.tokens) ?? []
    return tokens.count == 1 && tokens[0].text.first == "'" ? tokens[0].text : nil
  }

  /// Whether a column is a literal, and nothing else.
  func isLiteral(_ position: Int) -> Bool {
    let tokens = analysis.expression(ofColumn: position).map(SQLTokens.tokens) ?? []
    return tokens.count == 1 && [.string, .number].contains(tokens[0].kind)
  }

  /// Names the values of an owner, which are the statement's parameters without names.
  static let owner = """
    WITH \(IncrementalAnalysis.ownerName)(arm, row) AS NOT MATERIALIZED (SELECT ?, ?)

    """

  /// The records of the owner that is asked for, if that is one of these.
  func records(hidden names: [String]) -> String {
    let owner = IncrementalAnalysis.ownerName
    let records = body(
      hidden: names, of: analysis.narrowed,
      condition: """
        (SELECT arm FROM \(owner)) = \(number) AND \(identity[0]) = (SELECT row FROM \(owner))
        """)
    return analysis.kept.isEmpty
      ? records : records.replacing(IncrementalAnalysis.keptName, with: keptName)
  }

  private var keptName: String { "\(IncrementalAnalysis.keptName)\(number)_" }

  /// A parameter that takes rowids, as it is named among those of all arms.
  func naming(_ parameter: String) -> String {
    parameter.replacing(IncrementalAnalysis.keptName, with: keptName)
  }

  /// The SELECT with hidden columns behind its own.
  func body(
    hidden names: [String], of select: ResolvedSelect? = nil, condition: String? = nil
  ) -> String {
    let values = ["\(number)"] + identity.map(\.parenthesized)
    let hidden = names.enumerated().map { index, name in
      "\(index < values.count ? values[index] : "NULL") AS \(name)"
    }
    let fields = analysis.select.columns.map(\.text) + analysis.list.hidden
    return analysis.body(
      (select == nil ? fields : fields.map(analysis.subqueries.narrowed)) + hidden, of: select,
      condition: condition)
  }
}
