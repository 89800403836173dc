import OrderedResults

/// Finds out how the records of UNION ALL are kept up to date: each belongs to one of its SELECTs and
/// to a row of a table there, and is read again by both. A FULL JOIN is two such SELECTs (``FullJoin``).
///
/// https://www.sqlite.org/lang_select.html#compound_select_statements
struct UnionAnalysis {
  private let kind: UnionCandidate.Kind
  private let arms: [UnionArm]
  private let names: [String]
  private let order: [String]
  private let limit: LimitSyntax?
  private let list: SelectList
  private let key: [Int]
  /// The names of the hidden columns: the arm's number, and the rowids.
  private let hidden: [String]
  /// What a FULL JOIN is ordered by besides its columns: hidden ones before the others.
  private let orderExpressions: [String]

  /// - Parameters:
  ///   - selects: the SELECTs; ORDER BY and LIMIT behind the last one are those of the whole.
  ///   - candidate: what is known of the whole.
  ///   - analyze: looks at one SELECT.
  /// - Throws: ``NotIncremental``.
  init(
    _ selects: [SelectSyntax], _ candidate: UnionCandidate,
    _ analyze: (IncrementalCandidate) throws -> IncrementalAnalysis
  ) throws {
    kind = candidate.kind
    names = candidate.names
    let expressions =
      candidate.kind == .fullJoin ? Self.orderExpressions(of: selects[0], candidate.names) : []
    orderExpressions = expressions
    order = selects.last?.order ?? []
    limit = selects.last?.limit
    arms = try selects.enumerated().map { number, select in
      var syntax = select.withoutUnreadTables
      (syntax.order, syntax.limit) = ([], nil)
      var list = SelectList(visible: candidate.names)
      for expression in expressions { _ = list.append(hidden: expression) }
      let arm = IncrementalCandidate(
        syntax: syntax, list: list, resultExpressions: [], leadingSection: nil,
        sectionNeedsBytes: false, key: [],
        keyIsFree: true, orderIsFree: false)
      return try UnionArm(try analyze(arm), of: candidate.kind, number: number)
    }
    for expression in [limit?.limit, limit?.offset].compactMap(\.self) {
      try arms[0].analysis.locality.check(expression)
    }
    let width = arms.map(\.identity.count).max() ?? 1
    hidden = ["\"didchange arm\""] + (0..<width).map { "\"didchange row \($0)\"" }
    var list = SelectList(visible: names)
    for expression in expressions { _ = list.append(hidden: expression) }
    let added = hidden.map { list.append(hidden: $0) }
    self.list = list
    let isUnique = Self.isUnique(candidate.key, arms, candidate.kind)
    key = candidate.key + (candidate.keyIsFree && !isUnique ? added : [])
    guard candidate.keyIsFree || isUnique else {
      throw NotIncremental(
        reason: kind == .fullJoin
          ? "several records may have one key: it must have the rowids of both tables"
          : """
          several records may have one key: it must have a literal that says of which SELECT they are, \
          and a key of the rows there
          """)
    }
  }

  /// Whether the key identifies rows in each SELECT, and no two SELECTs have one key.
  private static func isUnique(
    _ key: [Int], _ arms: [UnionArm], _ kind: UnionCandidate.Kind
  ) -> Bool {
    // Where there is no row of a table, its rowid is NULL, and nowhere else.
    if kind == .fullJoin { return arms.allSatisfy { $0.isOwnerShown(by: key) } }
    return arms.allSatisfy { $0.isIdentified(by: key) }
      && key.contains { column in
        let literals = arms.compactMap { $0.text(inColumn: column) }
        return Set(literals).count == arms.count
      }
  }

  /// - Throws: ``NotIncremental``.
  func shape() throws -> IncrementalShape {
    let (order, terms) = try recordOrder()
    let (leads, contributions, keptRows) = try leads()
    for arm in arms {
      try arm.analysis.checkSearches(UnionArm.owner + arm.records(hidden: hidden))
    }
    // Not a condition on the whole as a subquery: that would have the affinities of the first arm.
    let records =
      UnionArm.owner + arms.map { $0.records(hidden: hidden) }.joined(separator: Self.separator)
    let plan = IncrementalPlan(
      owner: .rowOfArm(columns: [firstAdded, firstAdded + 1], arms: arms.count),
      isGrouped: false, order: order,
      records: KeyedStatement(beforeKeys: records, afterKeys: ""), leads: leads,
      contributions: contributions, window: window(terms), pages: nil, keptRows: keptRows)
    return IncrementalShape(
      sql: statement(order: terms, limit: limit), list: list, key: key,
      addedKeyNames: key.filter { $0 >= firstAdded }.map { $0 == firstAdded ? "arm" : "rowid" },
      keyIsUnique: true, plan: plan, reason: reason(leads))
  }

  private func reason(_ leads: [IncrementalPlan.Lead]) -> String {
    let owner =
      kind == .fullJoin ? "of their side of the FULL JOIN" : "of their SELECT of UNION ALL"
    var text = "changed rows lead to records \(owner), which are read again"
    text += leads.compactMap(\.note).map { "; " + $0 }.joined()
    return text + (limit == nil ? "" : "; LIMIT is cut from the whole order, which is kept")
  }

  // MARK: - Statements

  /// The position of the arm's number.
  private var firstAdded: Int { names.count + orderExpressions.count }

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
    for column in firstAdded..<list.count {
      terms.append(.init(column: column, isDescending: isDescending))
      sql.append("\(column + 1)\(isDescending ? " DESC" : "")")
    }
    return (RecordOrder(terms), sql)
  }

  /// What ORDER BY has that is no column of the result.
  private static func orderExpressions(of select: SelectSyntax, _ names: [String]) -> [String] {
    var expressions: [String] = []
    for term in select.order.map(OrderTerm.init) where column(ofOrder: term, select, names) == nil {
      let expression = term.expression.withoutTextInQuotationMarks
      if !expressions.contains(expression) { expressions.append(expression) }
    }
    return expressions
  }

  /// The column of the result that a term of ORDER BY names by its number, its name, or what it shows.
  private static func column(
    ofOrder term: OrderTerm, _ select: SelectSyntax, _ names: [String]
  ) -> Int? {
    let tokens = SQLTokens.tokens(of: term.expression)[...].withoutParentheses
    if tokens.count == 1, tokens.first?.kind == .number {
      return Int(tokens.sourceText).flatMap { (1...names.count).contains($0) ? $0 - 1 : nil }
    }
    if tokens.count == 1, let name = tokens.first?.name,
      let column = names.firstIndex(where: { $0.isSameIdentifier(as: name) })
    {
      return column
    }
    let columns = select.columns
    guard columns.count == names.count, columns.allSatisfy({ $0.kind == .expression }) else {
      return nil
    }
    let words = tokens.map(\.folded)
    return columns.firstIndex { SQLTokens.tokens(of: $0.expression).map(\.folded) == words }
  }

  /// A number or an alias of the first SELECT; SQLite also looks for other expressions, one SELECT after
  /// the other.
  private func position(ofOrder term: OrderTerm) throws -> Int {
    let tokens = SQLTokens.tokens(of: term.expression)
    if tokens.count == 1, let ordinal = Int(term.expression), (1...names.count).contains(ordinal) {
      return ordinal - 1
    }
    let first = arms[0].analysis
    if kind == .fullJoin,
      let column = Self.column(ofOrder: term, first.candidate.syntax, names)
        ?? orderExpressions.firstIndex(of: term.expression.withoutTextInQuotationMarks)
        .map({ names.count + $0 })
    {
      return column
    }
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

  private func leads() throws -> (
    [IncrementalPlan.Lead], [ContributionStatement], [IncrementalPlan.KeptRows]
  ) {
    var keptRows: [IncrementalPlan.KeptRows] = []
    var leads: [IncrementalPlan.Lead] = []
    var contributions: [ContributionStatement] = []
    for arm in arms {
      let (more, statements, kept) = try arm.analysis.leads(
        owner: nil, ownerColumns: arm.ownerColumns)
      let first = contributions.last?.positions.upperBound ?? 0
      leads += more.map { $0.shifted(contributions: contributions.count, positions: first) }
      contributions += statements.map { $0.shifted(by: first) }
      keptRows += kept.map { rows in
        .init(
          parameter: arm.naming(rows.parameter), positions: rows.positions.map { $0 + first })
      }
    }
    return (leads, contributions, keptRows)
  }
}

/// What is known of UNION ALL as a whole.
struct UnionCandidate {
  enum Kind: String {
    case unionAll = "UNION ALL"
    case fullJoin = "a FULL JOIN"
  }

  let kind: Kind
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
