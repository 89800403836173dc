/// One of the SELECTs that UNION ALL joins: each of its rows is a record, owned by a row of a table.
struct UnionArm {
  let analysis: IncrementalAnalysis
  let number: Int
  /// The rowids that tell its records apart, the owner's first.
  let identity: [String]

  /// - Throws: ``NotIncremental`` where its records cannot be led back to rows.
  init(_ analysis: IncrementalAnalysis, number: Int) throws {
    guard !analysis.select.isGrouped, analysis.windows.functions.isEmpty else {
      throw NotIncremental(reason: "a SELECT of UNION ALL has groups, DISTINCT or window functions")
    }
    guard analysis.encoding == .utf8 else {
      throw NotIncremental(reason: "the database holds text in UTF-16, and it is UNION ALL")
    }
    (self.analysis, self.number) = (analysis, number)
    var refusal: NotIncremental?
    for owner in analysis.possibleOwners {
      guard let rowID = analysis.select.tables[owner].rowID else {
        let table = analysis.select.tables[owner].name
        refusal = refusal ?? NotIncremental(reason: Self.lackOfRowID(table))
        continue
      }
      do {
        try analysis.checkSearches(
          analysis.body(
            ["1"], of: analysis.subqueries.narrowed, condition: "\(rowID) = ?"))
        identity = try [rowID] + Self.others(owner, analysis)
        return
      } catch let error as NotIncremental {
        refusal = refusal ?? error
      }
    }
    throw refusal
      ?? NotIncremental(
        reason: analysis.select.tables.first?.lack ?? "a LEFT JOIN may leave out each of its tables"
      )
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
    return body(
      hidden: names, of: analysis.subqueries.narrowed,
      condition: """
        (SELECT arm FROM \(owner)) = \(number) AND \(identity[0]) = (SELECT row FROM \(owner))
        """)
  }

  /// The SELECT with hidden columns behind its own.
  func body(
    hidden names: [String], of select: ResolvedSelect? = nil, condition: String? = nil
  ) -> String {
    let values = ["\(number)"] + identity.map(\.parenthesized)
    let hidden = names.enumerated().map { index, name in
      "\(index < values.count ? values[index] : "NULL") AS \(name)"
    }
    return analysis.body(
      analysis.select.columns.map(\.text) + hidden, of: select, condition: condition)
  }
}
