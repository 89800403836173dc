import GRDB
import OrderedResults

/// Leads the names in FROM back to tables.
struct SourceResolver {
  let db: Database
  let facts: SchemaFacts
  let locality: RowLocality
  private let budget: AnalysisBudget
  /// The tables of each WITH that can be named here, the outermost first. The tables of one WITH may
  /// name each other, in whatever order they stand.
  private(set) var commonTables: [[CommonTable]] = []
  /// Whether all of FROM may be groups, or have window functions.
  private var allowsParts = false

  init(_ locality: RowLocality, _ budget: AnalysisBudget, _ db: Database) {
    self.db = db
    self.locality = locality
    self.budget = budget
    facts = SchemaFacts(db: db)
  }

  /// - Throws: ``NotIncremental`` where a source is more than rows of tables.
  func resolve(_ syntax: SelectSyntax) throws -> ResolvedSelect {
    var inner = self
    inner.commonTables.append(syntax.commonTables)
    inner.allowsParts = allowsParts && syntax.sources.count == 1 && syntax.lackOfPlainness == nil
    if syntax.sources.contains(where: \.isFullJoined) {
      throw NotIncremental(
        reason: "it has a FULL JOIN within a view or a subquery, or beside UNION")
    }
    for table in syntax.commonTables where !syntax.reads(table) {
      throw NotIncremental(reason: "the query does not read its CTE \(table.name)")
    }
    let syntax = try syntax.mapExpressions(inner.bringingCommonTables)
    var sources: [ResolvedSource] = []
    for (index, source) in syntax.sources.enumerated() {
      var resolved = try inner.resolve(source, number: index)
      if source.isNatural {
        let common = resolved.columns.filter { column in
          sources.contains { $0.has(column: column) }
        }
        resolved.constraint = common.isEmpty ? .none : .using(common)
      }
      if sources.contains(where: { $0.isNamed(resolved.name) }) {
        throw NotIncremental(reason: "two of its tables are named \(resolved.name)")
      }
      resolved.isCrossJoined = source.isCrossJoined
      sources.append(resolved)
    }
    if syntax.sources.contains(where: \.isWrittenFirst), sources.contains(where: \.isRewritten) {
      // SQLite compares columns of these otherwise where it keeps their rows.
      throw NotIncremental(reason: "it has a RIGHT JOIN of a view or a subquery: write LEFT JOIN")
    }
    return ResolvedSelect(syntax: syntax, sources: sources)
  }

  /// Resolves a SELECT that may show the groups or the partitions of a view, a CTE or a subquery, if that is
  /// all of FROM.
  ///
  /// - Throws: ``NotIncremental`` where a source is more than rows of tables, or these.
  func resolveWithParts(_ syntax: SelectSyntax) throws -> ResolvedSelect {
    var resolver = self
    resolver.allowsParts = true
    return try resolver.resolve(syntax)
  }

  /// Resolves sources that need not read all tables of WITH that are around them.
  ///
  /// - Throws: ``NotIncremental`` where a source is more than rows of tables.
  func resolve(readBy syntax: SelectSyntax) throws -> ResolvedSelect {
    try resolve(syntax.withoutUnreadTables)
  }

  private func resolve(_ source: SourceSyntax, number: Int) throws -> ResolvedSource {
    try budget.takeSource()
    switch source.origin {
    case .function(let name, let arguments):
      return try function(name, arguments, source)
    case .select(let sql):
      return try subquery(
        sql, named: source.alias ?? "didchange source \(number)", columns: nil, source)
    case .table(let schema, let name):
      if let schema, !schema.isSameIdentifier(as: "main") {
        throw NotIncremental(reason: "\(schema).\(name) is in another database")
      }
      let alias = source.alias ?? name
      if schema == nil, let (table, scope) = commonTable(named: name) {
        return try scope.subquery(table.select, named: alias, columns: table.columns, source)
      }
      return try tableOrView(name, named: alias, source)
    }
  }

  /// The functions that make rows of a JSON text and of nothing else, and their columns.
  ///
  /// https://www.sqlite.org/json1.html#jeach
  private static let jsonFunctions = ["json_each", "json_tree"]
  private static let jsonColumns = [
    "key", "value", "type", "atom", "id", "parent", "fullkey", "path",
  ]

  private func function(
    _ name: String, _ arguments: String, _ source: SourceSyntax
  ) throws -> ResolvedSource {
    guard Self.jsonFunctions.contains(where: name.isSameIdentifier) else {
      if let table = SearchTable(name, facts) {
        return search(table, arguments, named: source.alias ?? name, source)
      }
      throw NotIncremental(reason: "\(name) is a table-valued function")
    }
    return ResolvedSource(
      body: .function(arguments: arguments), name: source.alias ?? name,
      columns: Self.jsonColumns, tables: [], isLeftJoined: source.isLeftJoined,
      constraint: source.constraint, table: name)
  }

  /// The innermost table of WITH of that name, and what can be named within it.
  func commonTable(named name: String) -> (CommonTable, scope: SourceResolver)? {
    for level in commonTables.indices.reversed() {
      guard
        let index = commonTables[level].firstIndex(where: { $0.name.isSameIdentifier(as: name) })
      else { continue }
      var scope = self
      scope.commonTables = Array(commonTables[...level])
      let table = scope.commonTables[level].remove(at: index)
      return (table, scope)
    }
    return nil
  }

  private func tableOrView(
    _ name: String, named alias: String, _ source: SourceSyntax
  ) throws -> ResolvedSource {
    let kind = try Row.fetchOne(
      db,
      sql: """
        SELECT type, wr, name FROM pragma_table_list
        WHERE schema = 'main' AND name = ? COLLATE NOCASE AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        """,
      arguments: [name])
    switch kind?[0] as String? {
    case "view":
      guard let view = try facts.view(name) else {
        throw NotIncremental(reason: "the view \(name) cannot be read")
      }
      var outside = self
      outside.commonTables = []
      return try outside.subquery(view.select, named: alias, columns: view.columns, source)
    case "virtual":
      guard let table = SearchTable(kind?[2] ?? name, facts) else {
        fallthrough
      }
      return search(table, nil, named: alias, source)
    case "table", "shadow":
      let rowID = facts.rowIDExpression(of: name)
      var lack = rowID == nil ? "all names of \(name)'s rowid are taken by columns" : nil
      let key = try kind?[1] == true ? facts.key(of: name) : nil
      if kind?[1] == true { lack = key == nil ? try lackOfKey(name) : nil }
      if kind?[0] != "table" { lack = "\(name) is a virtual table" }
      let columns = key?.columns.map { "\(alias.quotedIdentifier).\($0.quotedIdentifier)" }
      return self.source(
        .table,
        BaseTable(
          name: kind?[2] ?? name,
          rowID: lack == nil
            ? rowID.map { "\(alias.quotedIdentifier).\($0.quotedIdentifier)" } : nil,
          rowIDColumn: rowID, key: lack == nil ? key : nil,
          keyColumns: lack == nil ? columns ?? [] : [], lack: lack, isNullable: source.isLeftJoined),
        written: name, named: alias, source)
    default: throw NotIncremental(reason: "\(name) is no ordinary table")
    }
  }

  private func lackOfKey(_ name: String) throws -> String {
    try facts.textEncoding() == .utf8
      ? "\(name) is a table WITHOUT ROWID, whose keys only SQLite can compare"
      : "\(name) is a table WITHOUT ROWID in a database that holds text in UTF-16"
  }

  private func source(
    _ body: ResolvedSource.Body, _ table: BaseTable, written name: String, named alias: String,
    _ source: SourceSyntax
  ) -> ResolvedSource {
    ResolvedSource(
      body: body, name: alias, columns: facts.columns(of: name), tables: [table],
      isLeftJoined: source.isLeftJoined, constraint: source.constraint, table: name)
  }

  private func search(
    _ table: SearchTable, _ arguments: String?, named alias: String, _ source: SourceSyntax
  ) -> ResolvedSource {
    let rowID = table.lack == nil ? "\(alias.quotedIdentifier).\"rowid\"" : nil
    return self.source(
      .search(table, arguments: arguments),
      BaseTable(
        name: table.name, rowID: rowID, rowIDColumn: "rowid", lack: table.lack,
        isNullable: source.isLeftJoined, storage: table.storage),
      written: table.name, named: alias, source)
  }

  // MARK: - Views, CTEs and subqueries

  private func subquery(
    _ sql: String, named alias: String, columns names: [String]?, _ source: SourceSyntax
  ) throws -> ResolvedSource {
    let syntax: SelectSyntax
    do {
      syntax = try SelectParser.parse(sql)
      try syntax.checkIsPlain(allowingParts: allowsParts)
    } catch {
      throw NotIncremental(reason: "in \(source.shownName), \(error.reason)")
    }
    let select = try resolve(syntax).groupedIfDistinct(locality.functions)
    if select.isOverParts {
      try locality.checkOverParts(
        select, allowingWindows: allowsParts && select.grouped != nil)
    } else {
      try locality.check(
        select, allowingAggregates: select.isGrouped, allowingWindows: allowsParts)
    }
    do {
      try select.checkFunctions()
    } catch {
      throw NotIncremental(reason: "in \(source.shownName), \(error.reason)")
    }
    guard let expanded = select.expandedColumns else {
      throw NotIncremental(reason: "in \(source.shownName), what * stands for is not certain")
    }
    let columns = try names ?? shownNames(of: select)
    guard columns.count == expanded.count else {
      throw NotIncremental(reason: "in \(source.shownName), the number of columns is not certain")
    }
    let tables = select.tables.enumerated().map { index, table in
      BaseTable(
        name: table.name,
        rowID: select.grouped == nil && table.rowID != nil
          ? "\(alias.quotedIdentifier).\(ResolvedSelect.rowIDName(index))" : nil,
        rowIDColumn: table.rowIDColumn, key: table.key,
        keyColumns: select.grouped == nil
          ? table.keyColumns.indices.map {
            "\(alias.quotedIdentifier).\(ResolvedSelect.keyName(index, $0))"
          } : [], lack: table.lack,
        isNullable: table.isNullable || source.isLeftJoined, storage: table.storage)
    }
    return ResolvedSource(
      body: .select(select, names: names), name: alias, columns: columns, tables: tables,
      isLeftJoined: source.isLeftJoined, constraint: source.constraint, table: alias)
  }

  /// The names of a subquery's columns, as SQLite gives them.
  private func shownNames(of select: ResolvedSelect) throws -> [String] {
    let sql = "SELECT * FROM (\n\(select.subquery(requiring: nil))\n)"
    guard let statement = try? db.makeStatement(sql: sql) else {
      throw NotIncremental(reason: "its rowids cannot be shown by a subquery")
    }
    return statement.columnNames.dropLast(select.hiddenColumns.count)
  }
}

extension SourceSyntax {
  /// What a person calls it.
  var shownName: String {
    if let alias { return alias }
    switch origin {
    case .table(_, let name), .function(let name, _): return name
    case .select: return "a subquery"
    }
  }
}

extension ResolvedSelect {
  /// The rows of a function are those of what it is called with, where that is of rows that are there.
  func checkFunctions() throws(NotIncremental) {
    guard let first = sources.first(where: \.isFunction) else { return }
    let isOtherJoin = syntax.sources.contains { $0.isWrittenFirst || $0.isFullJoined }
    if isOtherJoin || sources.contains(where: \.hasUsing) {
      throw NotIncremental(
        reason: """
          \(first.table) is a table-valued function beside USING, or a NATURAL, RIGHT or FULL JOIN: \
          write JOIN or LEFT JOIN with ON
          """)
    }
    var names = NameScopes()
    names.enter(self, named: sources.map(\.name))
    for source in sources {
      guard case .function(let arguments) = source.body else { continue }
      let tokens = SQLTokens.tokens(of: arguments)[...]
      if tokens.withoutSubqueries.count < tokens.count {
        throw NotIncremental(
          reason: "\(source.table) is called with what a subquery finds: \(arguments)")
      }
      guard names.isCertain(tokens, rejectingNull: tokens.columnName != nil) else {
        throw NotIncremental(
          reason: "a LEFT JOIN may leave out what \(source.table) is called with: \(arguments)")
      }
    }
  }
}

extension SelectSyntax {
  /// The same without the tables of WITH that it does not read.
  var withoutUnreadTables: SelectSyntax {
    var syntax = self
    while let unread = syntax.commonTables.firstIndex(where: { !syntax.reads($0) }) {
      syntax.commonTables.remove(at: unread)
    }
    return syntax
  }

  /// Whether a table of WITH is named by FROM here, or by another such table.
  fileprivate func reads(_ table: CommonTable) -> Bool {
    let named = sources.contains { source in
      switch source.origin {
      case .table(nil, let name): name.isSameIdentifier(as: table.name)
      case .table, .function: false
      case .select(let sql): sql.mentions(table.name)
      }
    }
    return named || commonTables.contains { $0 != table && $0.select.mentions(table.name) }
      || expressions.flatMap(Subquery.all).contains { $0.body.sourceText.mentions(table.name) }
  }

  /// Whether each row is made of one row of each table, as they are, or of a group or a partition of them.
  fileprivate func checkIsPlain(allowingParts: Bool) throws(NotIncremental) {
    let makesGroups = isDistinct || !groupBy.isEmpty
    if let lack = lackOfPlainness, !(allowingParts && makesGroups) {
      throw NotIncremental(reason: lack)
    }
    if !windows.isEmpty, !allowingParts { throw NotIncremental(reason: "it has a WINDOW clause") }
    if limit != nil { throw NotIncremental(reason: "there is LIMIT") }
  }

  /// Why a row is not made of one row of each table; nil: it is, unless LIMIT leaves it out.
  fileprivate var lackOfPlainness: String? {
    if isDistinct { return "DISTINCT makes one record of several rows" }
    if !groupBy.isEmpty { return "rows are made to groups" }
    return having == nil ? nil : "there is HAVING"
  }
}

extension String {
  fileprivate func mentions(_ name: String) -> Bool {
    SQLTokens.tokens(of: self).contains { $0.name?.isSameIdentifier(as: name) == true }
  }
}

extension SchemaFacts {
  /// The column that is the rowid, or else any of its three names that no column has taken.
  ///
  /// SQLite is asked whether it is: `INTEGER PRIMARY KEY DESC` is not, for one.
  /// https://www.sqlite.org/lang_createtable.html#rowids_and_the_integer_primary_key
  func rowIDExpression(of table: String) -> String? {
    let columns = (try? db.columns(in: table)) ?? []
    let keys = columns.filter { $0.primaryKeyIndex > 0 }
    let names = (keys.count == 1 ? keys.map(\.name) : []) + freeRowIDNames(columns.map(\.name))
    return names.first { isRowID($0, of: table) }
  }

  private func isRowID(_ column: String, of table: String) -> Bool {
    let plan = try? db.queryPlan(
      of: """
        SELECT 1 FROM \(table.quotedIdentifier)
        WHERE \(column.quotedIdentifier) = 1
        """)
    return (plan?.first?["detail"] as String?)?.contains("(rowid=?)") == true
  }
}
