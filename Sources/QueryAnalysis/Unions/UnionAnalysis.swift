import OrderedResults

/// Finds out how the records of UNION ALL are kept up to date: each belongs to one of its SELECTs and
/// to a row of a table there, and is read again by both.
///
/// https://www.sqlite.org/lang_select.html#compound_select_statements
struct UnionAnalysis {
  private let arms: [UnionArm]
  private let names: [String]
  private let order: [String]
  private let limit: LimitSyntax?
  private let list: SelectList
  private let key: [Int]
  /// The names of the hidden columns: the arm's number, and the rowids.
  private let hidden: [String]

  /// - Parameters:
  ///   - selects: the SELECTs; ORDER BY and LIMIT behind the last one are those of the whole.
  ///   - candidate: what is known of the whole.
  ///   - analyze: looks at one SELECT.
  /// - Throws: ``NotIncremental``.
  init(
    _ selects: [SelectSyntax], _ candidate: UnionCandidate,
    _ analyze: (IncrementalCandidate) throws -> IncrementalAnalysis
  ) throws {
    names = candidate.names
    order = selects.last?.order ?? []
    limit = selects.last?.limit
    arms = try selects.enumerated().map { number, select in
      var syntax = select.withoutUnreadTables
      (syntax.order, syntax.limit) = ([], nil)
      let arm = IncrementalCandidate(
        syntax: syntax, list: SelectList(visible: candidate.names),
        resultExpressions: [], leadingSection: nil, sectionNeedsBytes: false, key: [],
        keyIsFree: true, orderIsFree: false)
      return try UnionArm(try analyze(arm), number: number)
    }
    for expression in [limit?.limit, limit?.offset].compactMap(\.self) {
      try arms[0].analysis.locality.check(expression)
    }
    let width = arms.map(\.identity.count).max() ?? 1
    hidden = ["\"didchange arm\""] + (0..<width).map { "\"didchange row \($0)\"" }
    var list = SelectList(visible: names)
    let added = hidden.map { list.append(hidden: $0) }
    self.list = list
    key = candidate.keyIsFree ? candidate.key + added : candidate.key
    guard candidate.keyIsFree || Self.isUnique(key, arms) else {
      throw NotIncremental(
        reason: """
          several records may have one key: it must have a literal that says of which SELECT they are, \
          and a key of the rows there
          """)
    }
  }

  /// Whether the key identifies rows in each SELECT, and no two SELECTs have one key.
  private static func isUnique(_ key: [Int], _ arms: [UnionArm]) -> Bool {
    arms.allSatisfy { $0.isIdentified(by: key) }
      && key.contains { column in
        let literals = arms.compactMap { $0.text(inColumn: column) }
        return Set(literals).count == arms.count
      }
  }

  /// - Throws: ``NotIncremental``.
  func shape() throws -> IncrementalShape {
    let (order, terms) = try recordOrder()
    let (leads, contributions) = try leads()
    for arm in arms {
      try arm.analysis.checkSearches(UnionArm.owner + arm.records(hidden: hidden))
    }
    // Not a condition on the whole as a subquery: that would have the affinities of the first arm.
    let records =
      UnionArm.owner + arms.map { $0.records(hidden: hidden) }.joined(separator: Self.separator)
    let plan = IncrementalPlan(
      owner: .rowOfArm(columns: [names.count, names.count + 1], arms: arms.count),
      isGrouped: false, order: order,
      records: KeyedStatement(beforeKeys: records, afterKeys: ""), leads: leads,
      contributions: contributions, window: window(terms), pages: nil)
    return IncrementalShape(
      sql: statement(order: terms, limit: limit), list: list, key: key,
      addedKeyNames: key.filter { $0 >= names.count }.map { $0 == names.count ? "arm" : "rowid" },
      keyIsUnique: true, plan: plan, reason: reason(leads))
  }

  private func reason(_ leads: [IncrementalPlan.Lead]) -> String {
    var text = "changed rows lead to records of their SELECT of UNION ALL, which are read again"
    text += leads.compactMap(\.note).map { "; " + $0 }.joined()
    return text + (limit == nil ? "" : "; LIMIT is cut from the whole order, which is kept")
  }

  // MARK: - Statements

  private static let separator = "\nUNION ALL\n"

  private func statement(order: [String], limit: LimitSyntax? = nil) -> String {
    arms.map { $0.body(hidden: hidden) }.joined(separator: Self.separator)
      + "\nORDER BY " + order.joined(separator: ", ") + (limit.map { "\n" + $0.sql } ?? "")
  }

  private func window(_ order: [String]) -> WindowStatement? {
    limit.map { limit in
      WindowStatement(short: nil, sql: statement(order: order), bounds: limit.bounds)
    }
  }

  // MARK: - Order

  private func recordOrder() throws -> (order: RecordOrder, sql: [String]) {
    var terms: [RecordOrder.Term] = []
    var sql: [String] = []
    for text in order {
      let term = OrderTerm(text)
      let column = try position(ofOrder: term)
      terms.append(
        .init(
          column: column, collation: try collation(ofColumn: column, term),
          isDescending: term.isDescending, nullsLast: term.nullsLast))
      sql.append(term.sql(ordinal: column + 1))
    }
    let isDescending = terms.last?.isDescending == true
    for column in names.count..<list.count {
      terms.append(.init(column: column, isDescending: isDescending))
      sql.append("\(column + 1)\(isDescending ? " DESC" : "")")
    }
    return (RecordOrder(terms), sql)
  }

  /// A number or an alias of the first SELECT; SQLite also looks for other expressions, one SELECT after
  /// the other.
  private func position(ofOrder term: OrderTerm) throws -> Int {
    let tokens = SQLTokens.tokens(of: term.expression)
    if tokens.count == 1, let ordinal = Int(term.expression), (1...names.count).contains(ordinal) {
      return ordinal - 1
    }
    let first = arms[0].analysis
    if tokens.count == 1, let name = tokens[0].name,
      let position = names.firstIndex(where: { $0.isSameIdentifier(as: name) }),
      first.select.sources.count == 1 || first.items?[position].alias != nil
    {
      return position
    }
    throw NotIncremental(
      reason: "UNION ALL orders by \(term.expression): write the number of a column, or an alias")
  }

  /// It is that of the first SELECT whose column has one: each column of a table has, and no literal.
  private func collation(ofColumn column: Int, _ term: OrderTerm) throws -> Collation {
    let deciding = arms.drop { $0.isLiteral(column) }
    guard let arm = deciding.first else {
      return try arms[0].analysis.collation(ofColumn: column, written: term.collation ?? "BINARY")
    }
    let first = try arm.analysis.collation(ofColumn: column, written: term.collation)
    if arm.analysis.origin(ofColumn: column) != nil { return first }
    let others = try deciding.map {
      try $0.analysis.collation(ofColumn: column, written: term.collation)
    }
    guard others.allSatisfy({ $0 == first }) else {
      throw NotIncremental(
        reason: "the collation of \(term.expression) is not known: write COLLATE")
    }
    return first
  }

  // MARK: - Leads

  private func leads() throws -> ([IncrementalPlan.Lead], [ContributionStatement]) {
    var leads: [IncrementalPlan.Lead] = []
    var contributions: [ContributionStatement] = []
    for arm in arms {
      let (more, statements, _) = try arm.analysis.leads(
        owner: nil, ownerColumns: arm.ownerColumns)
      let first = contributions.last?.positions.upperBound ?? 0
      leads += more.map { $0.shifted(contributions: contributions.count, positions: first) }
      contributions += statements.map { $0.shifted(by: first) }
    }
    return (leads, contributions)
  }
}

/// What is known of UNION ALL as a whole.
struct UnionCandidate {
  let names: [String]
  let key: [Int]
  let keyIsFree: Bool
}

extension IncrementalPlan.Lead {
  /// The same behind the contributions of other SELECTs.
  fileprivate func shifted(contributions: Int, positions: Int) -> Self {
    Self(
      table: table, storage: storage, isOwner: isOwner,
      searches: searches.map {
        .init(contribution: $0.contribution + contributions, statement: $0.statement)
      }, position: position.map { $0 + positions }, refusal: refusal, remedy: remedy)
  }
}

extension ContributionStatement {
  func shifted(by count: Int) -> Self {
    Self(
      sql: sql, positions: positions.lowerBound + count..<positions.upperBound + count,
      keys: keys, tellsLoss: tellsLoss, link: link?.shifted(by: count))
  }
}
