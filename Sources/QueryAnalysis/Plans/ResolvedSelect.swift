import OrderedResults

/// A SELECT whose sources are known down to the tables.
///
/// Views, CTEs and subqueries are written in the place where they are named, and show the rowids of
/// their tables besides their own columns, or what they group by; so a row of the result can be led back
/// to rows of tables.
struct ResolvedSelect {
  var syntax: SelectSyntax
  var sources: [ResolvedSource]
  let tables: [BaseTable]

  init(syntax: SelectSyntax, sources: [ResolvedSource]) {
    self.syntax = syntax
    self.sources = sources
    tables = sources.flatMap(\.tables)
  }

  /// The list behind SELECT, `*` replaced by columns where a source shows rowids besides its own, or the
  /// sources are in another order than they were written.
  var columns: [ResultColumn] {
    sources.contains(where: \.isRewritten) || syntax.sources.contains(where: \.isWrittenFirst)
      ? expandedColumns ?? syntax.columns : syntax.columns
  }

  /// The list behind SELECT with every `*` replaced by what it stands for; nil: not certain.
  var expandedColumns: [ResultColumn]? {
    var result: [ResultColumn] = []
    for column in syntax.columns {
      switch column.kind {
      case .expression: result.append(column)
      case .all:
        var written = sources
        if syntax.sources.dropFirst().first?.isWrittenFirst == true { written.swapAt(0, 1) }
        result += written.flatMap(\.qualifiedColumnsOfStar)
      case .allOf(let name):
        guard let source = sources.first(where: { $0.isNamed(name) }) else { return nil }
        result += source.qualifiedColumns
      }
    }
    return result
  }

  /// The same where DISTINCT is GROUP BY all columns: the rows that are alike are one record.
  ///
  /// - Throws: ``NotIncremental`` where DISTINCT is of something else than rows.
  func groupedIfDistinct(_ functions: FunctionList) throws(NotIncremental) -> ResolvedSelect {
    guard syntax.isDistinct else { return self }
    guard syntax.groupBy.isEmpty, syntax.having == nil, let items = expandedColumns,
      !items.contains(where: { functions.callsAggregate($0.expression) })
    else { throw NotIncremental(reason: "DISTINCT makes one record of several groups") }
    var syntax = syntax
    syntax.isDistinct = false
    syntax.groupBy = items.map(\.expression)
    return ResolvedSelect(syntax: syntax, sources: sources)
  }

  /// FROM; `required` is the number of a table of which a row must be there: the LEFT JOINs that
  /// lead to it are written as JOIN, which SQLite can begin with.
  /// Where something stands before the first source, that is joined, too. `asWritten`: CROSS JOIN stays what it is, which has
  /// SQLite go along what stands before it first.
  func from(
    requiring required: Int? = nil, joiningFirst: Bool = false, asWritten: Bool = false
  ) -> String {
    var first = 0
    var lines: [String] = []
    for (index, source) in sources.enumerated() {
      let inner = required.map { $0 - first }.flatMap { source.tables.indices ~= $0 ? $0 : nil }
      first += source.tables.count
      let isLeft = source.isLeftJoined && inner == nil
      let join = isLeft ? "LEFT JOIN " : asWritten && source.isCrossJoined ? "CROSS JOIN " : "JOIN "
      let sql = source.sql(requiring: inner, asWritten)
      lines.append((index == 0 && !joiningFirst ? "" : join) + sql)
    }
    return lines.joined(separator: "\n")
  }

  /// This SELECT as a subquery, with its hidden columns behind its own.
  func subquery(requiring required: Int?, asWritten: Bool = false) -> String {
    let hidden = hiddenColumns.map { "\($0.expression.parenthesized) AS \($0.name)" }
    return DeclaredParts.select(
      columns.map(\.text) + hidden, from: from(requiring: required, asWritten: asWritten),
      conditions: [syntax.predicate?.parenthesized].compactMap(\.self), groupBy: syntax.groupBy,
      having: syntax.having, windows: syntax.windows)
  }

  static func rowIDName(_ index: Int) -> String { "\"didchange rowid \(index)\"" }

  static func keyName(_ index: Int, _ column: Int) -> String {
    "\"didchange key \(index).\(column)\""
  }

  static func functionIDName(_ index: Int) -> String { "\"didchange function \(index)\"" }

  /// What tells the rows of its table-valued functions apart, where rows of the tables are the same.
  var functionIDs: [String] { sources.flatMap(\.functionIDs) }

  /// The names of table-valued functions, here and in views.
  var functionNames: [String] {
    sources.flatMap { source -> [String] in
      switch source.body {
      case .function: return [source.name]
      case .select(let inner, _): return inner.functionNames
      case .table, .search: return []
      }
    }
  }

  /// Whether the order of a subquery shows, because the SELECT around it has none.
  var showsInnerOrder: Bool {
    guard syntax.order.isEmpty, syntax.groupBy.isEmpty, sources.count == 1,
      case .select(let inner, _) = sources[0].body
    else { return false }
    return !inner.syntax.order.isEmpty || inner.showsInnerOrder
  }
}

/// A member of FROM.
struct ResolvedSource {
  enum Body {
    case table
    /// An FTS5 table, which may be called with what to search for.
    case search(SearchTable, arguments: String?)
    /// A table-valued function. It has no table: its rows are made of what it is called with, which
    /// other sources before it, or around, may have.
    case function(arguments: String)
    /// A view, a CTE or a subquery, and the names that it gives to the columns of its SELECT.
    indirect case select(ResolvedSelect, names: [String]?)
  }

  var body: Body
  /// The name by which the query knows it.
  private(set) var name: String
  let columns: [String]
  var tables: [BaseTable]
  var isLeftJoined: Bool
  var isCrossJoined = false
  var constraint: SourceSyntax.Constraint
  /// The table's name, or the function's.
  let table: String
  var isNullable: Bool { isLeftJoined || tables.contains(where: \.isNullable) }

  var isRewritten: Bool { if case .select = body { true } else { false } }

  var isFunction: Bool { if case .function = body { true } else { false } }

  /// Of a table-valued function, or of those in a view: what tells their rows apart.
  var functionIDs: [String] {
    switch body {
    case .function: ["\(name.quotedIdentifier).\"id\""]
    case .select(let inner, _) where inner.grouped == nil:
      inner.functionIDs.indices.map {
        "\(name.quotedIdentifier).\(ResolvedSelect.functionIDName($0))"
      }
    case .select, .table, .search: []
    }
  }

  /// Whether a LEFT JOIN may leave out a table-valued function.
  var mayLackFunction: Bool {
    switch body {
    case .function: isLeftJoined
    case .select(let inner, _): inner.sources.contains(where: \.mayLackFunction)
    case .table, .search: false
    }
  }

  var hasUsing: Bool { if case .using = constraint { true } else { false } }

  func isNamed(_ other: String) -> Bool { name.isSameIdentifier(as: other) }

  /// The same by another name.
  func named(_ alias: String) -> ResolvedSource {
    var copy = self
    copy.name = alias
    for index in tables.indices where tables[index].rowID != nil {
      let column =
        isRewritten
        ? ResolvedSelect.rowIDName(index) : tables[index].rowIDColumn?.quotedIdentifier
      copy.tables[index].rowID = column.map { "\(alias.quotedIdentifier).\($0)" }
    }
    for index in tables.indices {
      let names = tables[index].key?.columns ?? []
      copy.tables[index].keyColumns = tables[index].keyColumns.indices.map { column in
        let name =
          isRewritten ? ResolvedSelect.keyName(index, column) : names[column].quotedIdentifier
        return "\(alias.quotedIdentifier).\(name)"
      }
    }
    return copy
  }

  func has(column: String) -> Bool { columns.contains { $0.isSameIdentifier(as: column) } }

  /// Columns that can be named, though `*` does not show them.
  private var hiddenColumns: [String] {
    switch body {
    case .search(let table, _): table.hiddenColumns
    // https://www.sqlite.org/json1.html#jeach
    case .function: ["json", "root"]
    case .table, .select: []
    }
  }

  func hides(column: String) -> Bool {
    hiddenColumns.contains { $0.isSameIdentifier(as: column) }
  }

  var qualifiedColumns: [ResultColumn] {
    columns.map { ResultColumn("\(name.quotedIdentifier).\($0.quotedIdentifier)") }
  }

  /// What `*` shows of it: USING leaves the columns to those before it.
  /// https://www.sqlite.org/lang_select.html#fromclause
  var qualifiedColumnsOfStar: [ResultColumn] {
    guard case .using(let names) = constraint else { return qualifiedColumns }
    return zip(columns, qualifiedColumns).filter { column, _ in
      !names.contains { $0.isSameIdentifier(as: column) }
    }.map(\.1)
  }

  func sql(requiring required: Int?, _ asWritten: Bool) -> String {
    let source: String
    switch body {
    case .table where table == name, .search(_, arguments: nil) where table == name:
      return table.quotedIdentifier + constraintSQL
    case .table, .search(_, arguments: nil): source = table.quotedIdentifier
    case .function(let arguments), .search(_, let arguments?):
      source = "\(table.quotedIdentifier)(\n\(arguments)\n)"
    case .select(let select, nil):
      source = "(\n\(select.subquery(requiring: required, asWritten: asWritten))\n)"
    case .select(let select, let names?):
      let hidden = select.hiddenColumns.map(\.name)
      let list = (names.map(\.quotedIdentifier) + hidden).joined(separator: ", ")
      source = """
        (WITH \("view \(name)".quotedIdentifier)(\(list)) AS NOT MATERIALIZED (
        \(select.subquery(requiring: required, asWritten: asWritten))
        ) SELECT * FROM \("view \(name)".quotedIdentifier))
        """
    }
    return "\(source) AS \(name.quotedIdentifier)" + constraintSQL
  }

  private var constraintSQL: String {
    switch constraint {
    case .none: ""
    case .on(let condition): " ON \(condition.parenthesized)"
    case .using(let names): " USING (\(names.map(\.quotedIdentifier).joined(separator: ", ")))"
    }
  }
}
