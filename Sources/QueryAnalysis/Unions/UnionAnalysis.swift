import OrderedResults

/// Finds out how the records of UNION ALL and UNION are kept up to date.
///
/// With UNION ALL each belongs to one of the SELECTs and to a row of a table there, and is read again by
/// both. With UNION it belongs to all rows that have its values: which these are is known of each row, and
/// so is how many have them. A FULL JOIN is UNION ALL of two SELECTs (``FullJoin``).
///
/// https://www.sqlite.org/lang_select.html#compound_select_statements
struct UnionAnalysis {
  let arms: [UnionArm]
  let kind: CompoundSelect.Kind
  let candidate: IncrementalCandidate
  /// Where the whole is a view, a CTE or a subquery of FROM.
  let distributed: DistributedSelect?
  let orderTerms: [String]
  private let limit: LimitSyntax?
  private(set) var list: SelectList
  private var hidden: [HiddenColumn]

  var names: [String] { list.visible }

  /// Whether equal records are one.
  var isDistinct: Bool { kind == .union }

  /// The columns by which records of UNION are told apart.
  var exactColumns: [Int] { distributed?.exactColumns?.sorted() ?? Array(names.indices) }

  /// - Parameters:
  ///   - compound: the SELECTs; ORDER BY and LIMIT behind the last one are those of the whole.
  ///   - candidate: what is known of the whole.
  ///   - distributed: the SELECT that is over the whole, if one is.
  ///   - analyze: looks at one SELECT.
  /// - Throws: ``NotIncremental``.
  init(
    _ compound: CompoundSelect, _ candidate: IncrementalCandidate,
    over distributed: DistributedSelect? = nil,
    _ analyze: (IncrementalCandidate) throws -> IncrementalAnalysis
  ) throws {
    (kind, self.candidate, self.distributed) = (compound.kind, candidate, distributed)
    orderTerms = compound.arms.last?.order ?? []
    limit = compound.arms.last?.limit
    var list = candidate.list
    let orderedBy =
      compound.kind == .fullJoin
      ? FullJoin.hiddenOrder(of: compound.arms[0], list)
      : try distributed?.hiddenOrder(orderTerms, list) ?? []
    for expression in orderedBy { _ = list.append(hidden: expression) }
    hidden = list.hidden.enumerated().map { index, expression in
      HiddenColumn(
        name: "didchange column \(index)".quotedIdentifier,
        expressions: compound.arms.map { _ in expression })
    }
    self.list = list
    arms = try compound.arms.enumerated().map { number, select in
      var syntax = select.withoutUnreadTables
      (syntax.order, syntax.limit) = ([], nil)
      let arm = IncrementalCandidate(
        syntax: syntax, list: list, resultExpressions: [], leadingSection: nil,
        sectionNeedsBytes: false, key: [], keyIsFree: true, orderIsFree: false)
      let analysis = try analyze(arm)
      for expression in orderedBy { try analysis.checkIsOfRow(expression) }
      return try UnionArm(analysis, of: compound.kind, number: number)
    }
    try distributed?.check(arms.map(\.analysis))
    if let refusal = arms.compactMap(\.analysis.subqueries.orderRefusal).first { throw refusal }
    for expression in [limit?.limit, limit?.offset].compactMap(\.self) {
      try arms[0].analysis.locality.check(expression)
    }
    if isDistinct { try checkValues() }
    guard candidate.keyIsFree || isUnique(candidate.key) else {
      throw NotIncremental(
        reason: kind == .fullJoin
          ? "several records may have one key: it must have the rowids of both tables"
          : """
          several records may have one key: it must have a literal that says of which SELECT they are, \
          and a key of the rows there
          """)
    }
  }

  /// Whether the key identifies rows in each SELECT, and no two SELECTs have one key; or else it is all that
  /// tells records of UNION apart.
  private func isUnique(_ key: [Int]) -> Bool {
    // Where there is no row of a table, its rowid is NULL, and nowhere else.
    if kind == .fullJoin { return arms.allSatisfy { $0.isOwnerShown(by: key) } }
    let isOfArms = key.contains { column in
      let literals = arms.compactMap { $0.text(inColumn: column) }
      return Set(literals).count == arms.count
    }
    return isOfArms && arms.allSatisfy { $0.isIdentified(by: key) }
      || isDistinct && Set(key).isSuperset(of: exactColumns)
  }

  /// - Throws: ``NotIncremental``.
  mutating func shape() throws -> IncrementalShape {
    var order = try askedOrder()
    let key = isDistinct ? try distinctKey() : try keyOfRows()
    for column in isDistinct ? exactColumns : key.rows {
      order.append(.init(column: column, isDescending: order.isDescending))
    }
    let (leads, contributions, keptRows) = try leads()
    let owner = UnionArm.owner(of: arms)
    for arm in arms { try arm.analysis.checkSearches(owner + arm.records(hidden)) }
    // Not a condition on the whole as a subquery: that would have the affinities of the first arm.
    let records = owner + arms.map { $0.records(hidden) }.joined(separator: "\nUNION ALL\n")
    let keys = arms.map(\.key)
    var plan = IncrementalPlan(
      owner: isDistinct
        ? .values(columns: list.count, arms: keys)
        : .rowOfArm(columns: key.owner, arms: keys),
      isGrouped: false, order: order.record,
      records: KeyedStatement(beforeKeys: records, afterKeys: ""), leads: leads,
      contributions: contributions, window: window(order.sql), pages: nil, keptRows: keptRows)
    if isDistinct {
      let width = UnionArm.width(arms)
      plan.appearances = arms.map { $0.appearances(hidden, width: width) }
        .joined(separator: "\nUNION ALL\n")
    }
    return IncrementalShape(
      sql: statement(order: order.sql, limit: limit), list: list, key: key.key,
      addedKeyNames: key.addedNames,
      keyIsUnique: candidate.keyIsFree && !isDistinct || arms[0].analysis.encoding == .utf8,
      plan: plan, reason: reason(leads))
  }

  private func reason(_ leads: [IncrementalPlan.Lead]) -> String {
    var text =
      switch kind {
      case .unionAll:
        "changed rows lead to records of their SELECT of UNION ALL, which are read again"
      case .union:
        "changed rows of each SELECT of UNION are read again, and those with the same values counted"
      case .fullJoin:
        "changed rows lead to records of their side of the FULL JOIN, which are read again"
      }
    text += leads.notes
    return text + (limit == nil ? "" : "; LIMIT is cut from the whole order, which is kept")
  }

  // MARK: - Key

  /// The columns of the key, those that identify rows, and those that tell the owner.
  private typealias Key = (key: [Int], rows: [Int], owner: [Int], addedNames: [String])

  private mutating func keyOfRows() throws -> Key {
    let first = list.count
    let width = UnionArm.width(arms)
    add("didchange arm", arms.map { "\($0.number)" })
    for index in 0..<(arms.map(\.identity.count).max() ?? 1) {
      add("didchange row \(index)", arms.map { $0.identity.dropFirst(index).first ?? "NULL" })
    }
    let rows = Array(first..<list.count)
    let isAdded = candidate.keyIsFree && !(kind == .fullJoin && isUnique(candidate.key))
    return (
      key: isAdded ? candidate.key + rows : candidate.key, rows: rows,
      owner: Array(rows.prefix(1 + width)),
      addedNames: isAdded
        ? rows.enumerated().map { $0.offset == 0 ? "arm" : "rowid" } : []
    )
  }

  private func distinctKey() throws -> Key {
    let others = exactColumns.filter { !candidate.key.contains($0) }
    return (
      key: candidate.keyIsFree ? candidate.key + others : candidate.key, rows: [], owner: [],
      addedNames: candidate.keyIsFree ? others.map { names[$0] } : []
    )
  }

  /// Adds a column that is an expression of each SELECT; returns its position.
  @discardableResult
  mutating func add(_ name: String, _ expressions: [String]) -> Int {
    hidden.append(HiddenColumn(name: name.quotedIdentifier, expressions: expressions))
    return list.append(hidden: name.quotedIdentifier)
  }

  // MARK: - Statements

  private func statement(order: [String], limit: LimitSyntax? = nil) -> String {
    arms.map { $0.body(hidden) }.joined(separator: isDistinct ? "\nUNION\n" : "\nUNION ALL\n")
      + "\nORDER BY " + order.joined(separator: ", ") + (limit.map { "\n" + $0.sql } ?? "")
  }

  private func window(_ order: [String]) -> WindowStatement? {
    limit.map { limit in
      WindowStatement(short: nil, sql: statement(order: order), bounds: limit.bounds)
    }
  }
}
