import GRDB
import OrderedResults

/// What decides how a query is maintained, the same for both forms of a definition.
struct IncrementalCandidate {
  var syntax: SelectSyntax
  /// The result columns; hidden ones are expressions over the rows of FROM.
  var list: SelectList
  /// Hidden columns that are expressions over the result columns.
  let resultExpressions: [String]
  /// The column of the section's name, where the order begins with it by itself.
  let leadingSection: Int?
  /// Names that the section's own collation takes for equal are still different sections.
  let sectionNeedsBytes: Bool
  var key: [Int]
  /// Whether columns may be added to the key until it is unique.
  let keyIsFree: Bool
  /// Whether it may have the order of its key where it asks for none, whatever a subquery asks for.
  let orderIsFree: Bool
  /// The subqueries in whose place parameters stand; nil: none.
  var values: CommonValues?
  /// The whole statement as it was written, where its syntax is another one; nil: it is made of its syntax.
  var whole: WholeStatement?
  /// Which rows of each group it shows, where ``syntax`` does not say so; nil: all.
  var extreme: GroupExtreme?

  var sectionTerms: [String] {
    guard let leadingSection else { return [] }
    let ordinal = "\(leadingSection + 1)"
    return sectionNeedsBytes ? [ordinal, "\(ordinal) COLLATE BINARY"] : [ordinal]
  }
}

/// A query that is maintained row by row: its statement, and how.
struct IncrementalShape {
  let sql: String
  let list: SelectList
  let key: [Int]
  var addedKeyNames: [String]
  let keyIsUnique: Bool
  var plan: IncrementalPlan
  var reason: String
  /// Whether all rows of a table are looked at where one of another changed.
  var looksThroughFew = false
  /// What its groups are made of, if they may be kept up to date by that.
  var groups: GroupSyntax?
  /// What its records aggregate, if they may be kept up to date by that.
  var owned: OwnedSyntax?
}

/// Finds out whether a query can be maintained row by row, and how.
struct IncrementalAnalysis {
  let db: Database
  let resolver: SourceResolver
  let facts: SchemaFacts
  let encoding: TextEncoding
  var candidate: IncrementalCandidate
  /// What makes the rows: the query, or the SELECT whose groups it shows.
  let select: ResolvedSelect
  /// The same with conditions that follow from its own, by which changed rows are led.
  let implied: ImpliedConditions
  /// The query, whose fields, WHERE, ORDER BY and LIMIT may be over groups.
  let shown: ResolvedSelect
  let locality: RowLocality
  let determination: RowDetermination
  private(set) var subqueries: SubqueryAnalysis
  /// The hidden columns in which subqueries may be.
  private let hidden: [String]
  /// Tables whose rows are found for an owner in memory, for SQLite would look at all of them.
  private(set) var kept: Set<Int> = []
  /// By the names that SQLite knows them by, tables that have few rows and may be looked through.
  var lookedThrough: Set<String> = []
  let windows: WindowFunctions
  /// The SELECT that has them, and whether it is a subquery of the query.
  let windowed: ResolvedSelect
  let hasWindowsWithin: Bool
  /// Whether the owner of a record is not its group, but all groups that are in one partition.
  var ownersArePartitions = false
  /// The columns that the ORDER BY of a window has at its end, though they were not written; nil: none.
  let keyOfWindows: [String]?
  /// Whether it is written with DISTINCT.
  let isDistinct: Bool
  /// Whether what it shows of a group depends on the order of its rows.
  var dependsOnOrder = false
  /// Which column shows one of several values of a group, in a sentence.
  var choice: String?
  /// Whether the order of a group's rows does not decide which one that is.
  var choiceIsCertain = false
  /// Tables of which a group has one row, if what it shows depends on the order of the others'.
  var rowsOfGroups: Set<Int> = []
  /// What it groups by of which equal values look the same unless they are numbers of both kinds, 1 and 1.0:
  /// where such a one comes up, the query is run again.
  var termsWithoutReals: [GroupTerm] = []
  /// What stands behind each visible column, in the words of ``shown``; nil: not certain.
  let items: [ResultColumn]?
  var list: SelectList
  var key: [Int]
  var addedKeyNames: [String] = []
  /// The rowids that tell records apart whose keys are alike.
  var tiebreakers: [Int] = []

  /// - Throws: ``NotIncremental``.
  init(_ candidate: IncrementalCandidate, _ budget: AnalysisBudget, in db: Database) throws {
    self.db = db
    facts = SchemaFacts(db: db)
    encoding = try facts.textEncoding()
    locality = try RowLocality(db)
    resolver = SourceResolver(locality, budget, db)
    let written = try resolver.resolveWithParts(candidate.syntax).withoutNamesInOrder
      .comparingWithLists(facts)
    try written.checkFunctions()
    // What is run as it was written, would have other windows.
    let completed = candidate.whole == nil ? written.completingWindows(locality, db) : nil
    let resolved = completed?.select ?? written
    keyOfWindows = completed?.key
    if let function = resolved.functionNames.first, resolved.tables.isEmpty {
      throw NotIncremental(reason: "\(function) is a table-valued function, and FROM has no table")
    }
    isDistinct = resolved.syntax.isDistinct
    shown = try resolved.groupedIfDistinct(locality.functions)
    select = shown.grouped ?? shown.partitioned ?? shown
    implied = ImpliedConditions(
      select, except: shown.syntax.commonTables.map(\.name), resolver)
    var candidate = candidate
    candidate.syntax = shown.syntax
    self.candidate = candidate
    let isGrouped = shown.isGrouped
    if candidate.syntax.having != nil, !isGrouped {
      throw NotIncremental(reason: "its record is an aggregate of all rows")
    }
    if !candidate.orderIsFree, shown.showsInnerOrder {
      throw NotIncremental(reason: "its order is that of a subquery: write ORDER BY outside of it")
    }
    try select.checkJoins()
    let isOverParts = shown.isOverParts
    let allWindowed = shown.windowed
    windowed = allWindowed.first ?? shown
    hasWindowsWithin = !allWindowed.isEmpty && !shown.hasWindows
    windows = try WindowFunctions(
      windowed.syntax, hidden: hasWindowsWithin ? [] : candidate.list.hidden, locality)
    if select.hasPartitionsWithin || allWindowed.count > 1 {
      throw NotIncremental(reason: "its window functions look at those of a subquery")
    }
    if isDistinct, let function = windows.functions.first {
      throw NotIncremental(
        reason: "\(function.name)() OVER looks at several records of DISTINCT")
    }
    hidden = isOverParts ? [] : candidate.list.hidden
    let allowed = isGrouped ? locality.allowingOrder : locality
    if isOverParts {
      try locality.checkOverParts(shown, allowingWindows: !hasWindowsWithin)
    } else {
      try allowed.check(select, allowingAggregates: isGrouped, allowingWindows: true)
    }
    for expression in candidate.list.hidden {
      try allowed.check(
        expression, of: shown, allowingAggregates: isGrouped, allowingSubqueries: !isOverParts,
        allowingWindows: !isOverParts)
    }
    let limit = candidate.syntax.limit
    for expression in candidate.resultExpressions
      + [limit?.limit, limit?.offset].compactMap(\.self)
    {
      try locality.check(expression)
    }
    determination = RowDetermination(select, db)
    subqueries = try SubqueryAnalysis(implied.select, hidden: hidden, resolver, locality)
    list = candidate.list
    key = candidate.key
    let expanded = shown.expandedColumns
    items = expanded?.count == list.visible.count ? expanded : nil
  }

  /// Whether the query shows groups, or the rows of partitions, that a SELECT in its FROM makes.
  var isOverParts: Bool { shown.isOverParts }

  var isOverGroups: Bool { isOverParts && select.isGrouped }

  /// - Throws: ``NotIncremental``.
  mutating func shape() throws -> IncrementalShape {
    if select.isGrouped, candidate.extreme == nil {
      return try windows.functions.isEmpty ? groupShape() : windowShape()
    }
    if let extreme = candidate.extreme, extreme.showsGroups { return try shape(of: extreme) }
    guard let first = possibleOwners.first else {
      throw NotIncremental(
        reason: select.tables[0].lack ?? "a LEFT JOIN may leave out each of its tables")
    }
    try completeKey(first)
    if let extreme = candidate.extreme { return try shape(of: extreme) }
    return try windows.functions.isEmpty ? rowShape() : windowShape()
  }

  // MARK: - Owners that are rows

  /// Tables whose rows may own records, those first that need no other's help to tell records apart.
  var possibleOwners: [Int] {
    let tables = select.tables.indices.filter {
      !select.tables[$0].isNullable && !select.tables[$0].identity.isEmpty
    }
    let all = select.tables.count
    let whole = tables.filter { determination.closure(of: [$0]).count == all }
    return whole + tables.filter { !whole.contains($0) }
  }

  /// The shape with the first owner that SQLite can search by, or else by rows that are kept in memory.
  mutating func rowShape(owners: [Int]? = nil) throws -> IncrementalShape {
    var refusal: NotIncremental?
    for keeping in Keeping.allCases {
      let owners = owners ?? possibleOwners
      for owner in keeping == .none ? owners[...] : owners.prefix(Self.mostTriedKeeping) {
        var attempt = self
        do {
          return try attempt.shape(ownedBy: owner, keeping)
        } catch let error as NotIncremental {
          refusal = refusal ?? error
        }
      }
      if refusal?.unsearched == nil { break }
    }
    throw refusal ?? NotIncremental(reason: "no row of its tables owns a record")
  }

  private mutating func shape(
    ownedBy owner: Int, _ keeping: Keeping
  ) throws -> IncrementalShape {
    let identity = select.tables[owner].identity
    let columns = positions(ofRow: owner)
    let asked = try indexedOrder()
    let (order, terms) = (asked.record, asked.sql)
    try keepRows(keeping, besides: [owner]) {
      try $0.checkSearches($0.keyed(by: identity).sql(forKeys: 2))
    }
    let records = keyed(by: identity)
    try checkSearches(records.sql(forKeys: 2))
    // SQLite goes another way for one key than for several, perhaps.
    for count in [1, 2] {
      let records = records.sql(forKeys: count)
      if dependsOnOrder { try checkOrderOfRows(records, order, terms, owner: owner) }
      try checkOrderInSubqueries(records, terms)
    }
    let (leads, contributions, keptRows) = try leads(owner: owner, ownerColumns: identity)
    let key = select.tables[owner].key
    let window = window(terms)
    var plan = IncrementalPlan(
      owner: key.map { .keyedRow(columns: columns, $0) } ?? .row(column: columns[0]),
      isGrouped: select.isGrouped, order: order,
      records: records, leads: leads,
      contributions: contributions, window: window, pages: pages(terms),
      equality: showsFirstOfIndex(window) ? equality(owner) : nil, keptRows: keptRows)
    plan.outline = outline(of: plan)
    plan.hasOneRecordAnOwner = hasOneRecord(owner)
    var shape = shape(plan, terms)
    shape.owned = ownedSyntax(owner)
    return shape
  }

  /// Whether one record is made of a row at most.
  private func hasOneRecord(_ owner: Int) -> Bool {
    let determined = determination.closure(of: [owner])
    guard select.functionIDs.isEmpty else { return false }
    guard select.isGrouped else { return determined.count == select.tables.count }
    return select.groupTerms.map { GroupTerm($0, in: select) }
      .allSatisfy { !$0.tables.isEmpty && determined.isSuperset(of: $0.tables) }
  }

  /// Whether a row that is not shown may leave the result without a look at it: all are shown, or always so
  /// many from the first on of an index.
  private func showsFirstOfIndex(_ window: WindowStatement?) -> Bool {
    guard let limit = candidate.syntax.limit else { return true }
    guard window?.short != nil, limit.offset == nil, let count = Int(limit.limit) else {
      return false
    }
    return 0...WindowStatement.shortLimit ~= count
  }

  /// A condition that a value of the owner's own row must fulfil.
  private func equality(_ owner: Int) -> ArgumentEquality? {
    let table = select.tables[owner].name
    guard let predicate = select.syntax.predicate,
      encoding == .utf8, let rowID = facts.rowIDExpression(of: table)
    else { return nil }
    let collations = facts.collations(of: table)
    return ArgumentEquality(
      predicate: predicate, table: table, rowID: rowID.quotedIdentifier
    ) { expression in
      guard let origin = select.origin(of: expression), origin.table == owner,
        collations[origin.name].flatMap(Collation.init) != nil
      else { return nil }
      return origin.name
    }
  }

  /// Has rows of tables kept, of which those of an owner are read.
  mutating func keep(_ tables: Set<Int>) throws {
    kept.formUnion(tables)
    subqueries = try SubqueryAnalysis(
      implied.select, hidden: hidden, keeping: kept, resolver, locality)
  }

  // `lack` says why groups are found in memory, if they are.
  func shape(
    _ plan: IncrementalPlan, _ terms: [String], _ lack: String? = nil
  ) -> IncrementalShape {
    var plan = plan
    if !subqueries.searchNames.isEmpty {
      plan.beginnings = SearchBeginnings(in: plan.records.beforeKeys)
    }
    return IncrementalShape(
      sql: statement(order: terms, limit: candidate.syntax.limit), list: list, key: key,
      addedKeyNames: addedKeyNames, keyIsUnique: keyIsUnique, plan: plan,
      reason: reason(plan) + (lack.map { "; their rows are found in memory: \($0)" } ?? ""),
      looksThroughFew: !lookedThrough.isEmpty, groups: groupSyntax(plan))
  }
}
