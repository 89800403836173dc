import GRDB
import GRDBSQLite
import OrderedResults

/// Why a query cannot be kept up to date row by row, in a sentence for a person.
struct NotIncremental: Error {
  let reason: String
}

/// Everything of a declared query that decides how it is maintained.
struct IncrementalCandidate {
  let parts: DeclaredParts
  let visible: StatementText
  let section: Int?
  /// Names that the section's own collation takes for equal are still different sections.
  let sectionNeedsBytes: Bool
  let key: [Int]
  let keyIsUnique: Bool

  var sectionTerms: [String] {
    guard let section else { return [] }
    let ordinal = "\(section + 1)"
    return sectionNeedsBytes ? [ordinal, "\(ordinal) COLLATE BINARY"] : [ordinal]
  }
}

// Whether a declared query can be maintained row by row.
extension QueryAnalysis {
  /// The plan, with the order that the statement must have; adds the columns that it needs to the
  /// select list.
  ///
  /// - Throws: ``NotIncremental``.
  func incrementalPlan(
    _ candidate: IncrementalCandidate, list: inout SelectList
  ) throws -> (plan: IncrementalPlan, order: [String]) {
    let table = candidate.parts.declaration.table
    guard candidate.keyIsUnique else {
      throw NotIncremental(reason: "several records may have one key")
    }
    try checkTable(table, candidate.parts.declaration)
    try checkExpressions(candidate.parts, list)
    let rowID = try rowIDColumn(of: table, candidate, list: &list)
    let (order, terms) = try recordOrder(candidate, list: &list)
    let columns = candidate.parts.fields + list.hidden.map { "\($0.expression.parenthesized)" }
    let rowIDName = facts.rowIDName(of: table)
    let condition = candidate.parts.declaration.predicate.map { "\($0.parenthesized) AND " } ?? ""
    let sql = """
      SELECT \(columns.joined(separator: ", "))
      FROM \(candidate.parts.table)
      WHERE \(condition)\(candidate.parts.table).\(rowIDName.quotedIdentifier) IN \

      """
    let plan = IncrementalPlan(
      table: table, rowID: rowID, order: order, sqlBeforeKeys: sql,
      route: try route(candidate.parts.declaration))
    try checkPlan(plan)
    return (plan, terms)
  }

  private func route(_ declaration: QueryDefinition.Declaration) throws -> EqualityRoute? {
    guard let predicate = declaration.predicate else { return nil }
    let table = declaration.table
    let comparable = try facts.collations(of: table).filter { Collation(rawValue: $0.value) != nil }
    return EqualityRoute(
      predicate: predicate, table: table, rowID: facts.rowIDName(of: table),
      columns: facts.columns(of: table).filter { comparable[$0.lowercased()] != nil })
  }

  private func checkTable(_ table: String, _ declaration: QueryDefinition.Declaration) throws {
    guard try String.fetchOne(db, sql: "PRAGMA encoding") == "UTF-8" else {
      throw NotIncremental(reason: "the database holds text in UTF-16")
    }
    guard declaration.groupBy.isEmpty, declaration.having == nil else {
      throw NotIncremental(reason: "its records are groups of rows")
    }
    let kind = try Row.fetchOne(
      db,
      sql:
        "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
      arguments: [table])
    switch kind?[0] as String? {
    case "table": break
    case "view": throw NotIncremental(reason: "\(table) is a view")
    case "virtual": throw NotIncremental(reason: "\(table) is a virtual table")
    default: throw NotIncremental(reason: "\(table) is no ordinary table")
    }
    if kind?[1] == true { throw NotIncremental(reason: "\(table) is a table WITHOUT ROWID") }
  }

  /// Every expression must be a function of its row alone.
  private func checkExpressions(_ parts: DeclaredParts, _ list: SelectList) throws {
    let functions = try FunctionList(db)
    let expressions =
      parts.fields + [parts.declaration.predicate].compactMap(\.self) + parts.declaration.order
      + list.hidden.map(\.expression)
    for expression in expressions {
      do {
        try functions.check(expression)
      } catch {
        throw NotIncremental(reason: "\(error.description): \(expression.trimmingSpaces)")
      }
    }
  }

  private func rowIDColumn(
    of table: String, _ candidate: IncrementalCandidate, list: inout SelectList
  ) throws -> Int {
    let alias = try db.primaryKey(table)
    let name = facts.rowIDName(of: table)
    let origin = ColumnOrigin(
      table: table, column: alias.isRowID ? alias.columns.first ?? name : name)
    if let visible = candidate.visible.origins.firstIndex(where: { $0?.isSame(as: origin) == true })
    {
      return visible
    }
    if let hidden = list.hidden.firstIndex(where: {
      $0.expression == origin.column.quotedIdentifier || $0.expression == name.quotedIdentifier
    }) {
      return list.visible.count + hidden
    }
    return list.append(hidden: name.quotedIdentifier, part: ["table"])
  }

  // MARK: - Order

  /// The order, and the same as ORDER BY has it.
  ///
  /// The statement's terms are ordinals, so that both look at the very same values.
  private func recordOrder(
    _ candidate: IncrementalCandidate, list: inout SelectList
  ) throws -> (order: RecordOrder, sql: [String]) {
    var terms: [RecordOrder.Term] = []
    var sql = candidate.sectionTerms
    if let section = candidate.section {
      let expression = list.expression(at: section)
      terms.append(
        .init(column: section, collation: try collation(of: expression, nil, candidate.parts)))
      if candidate.sectionNeedsBytes { terms.append(.init(column: section)) }
    }
    for text in candidate.parts.declaration.order {
      let term = OrderTerm(text)
      let column = try position(ofOrder: term, candidate, list: &list)
      terms.append(
        .init(
          column: column,
          collation: try collation(of: term.expression, term.collation, candidate.parts),
          isDescending: term.isDescending, nullsLast: term.nullsLast))
      sql.append(term.sql(ordinal: column + 1))
    }
    let isDescending =
      terms.count > candidate.sectionTerms.count && terms.last?.isDescending == true
    for column in candidate.key {
      let expression = list.expression(at: column)
      terms.append(
        .init(
          column: column, collation: try collation(of: expression, nil, candidate.parts),
          isDescending: isDescending))
      sql.append("\(column + 1)\(isDescending ? " DESC" : "")")
    }
    return (RecordOrder(terms), sql)
  }

  /// ORDER BY takes a name for that of a result column first, and an integer for its number.
  private func position(
    ofOrder term: OrderTerm, _ candidate: IncrementalCandidate, list: inout SelectList
  ) throws -> Int {
    if let ordinal = Int(term.expression), (1...list.visible.count).contains(ordinal) {
      return ordinal - 1
    }
    if let visible = list.position(ofVisible: term.expression) { return visible }
    let probe = candidate.parts.expressionProbe(term.expression, part: "order")
    guard (try? prepare(probe.sql, part: probe.part)) != nil else {
      throw NotIncremental(reason: "it orders by more than its row: \(term.expression)")
    }
    return list.append(hidden: term.expression, part: ["order"])
  }

  /// The collation that SQLite uses for an expression: https://www.sqlite.org/datatype3.html#assigning_collating_sequences_from_sql
  ///
  /// A column brings its own. For other expressions it would have to be derived; where every text
  /// column of the table has BINARY, there is nothing to derive.
  private func collation(
    of expression: String, _ written: String?, _ parts: DeclaredParts
  ) throws -> Collation {
    if let written {
      guard let collation = Collation(rawValue: written.uppercased()) else {
        throw NotIncremental(reason: "only SQLite can compare by the collation \(written)")
      }
      return collation
    }
    let names = try facts.collations(of: parts.declaration.table)
    if names.values.allSatisfy({ $0 == "BINARY" }), !expression.mentionsCollate { return .binary }
    let list = parts.fields.joined(separator: ", ")
    // The name of a result column, or else of a column of the table.
    let origins = ["(SELECT \(list)\nFROM \(parts.table))", parts.table].lazy.compactMap { source in
      try? prepare("SELECT \(expression.parenthesized) FROM \(source)", part: []).origin(
        ofColumn: 0)
    }
    guard !expression.mentionsCollate, let origin = origins.first,
      let name = names[origin.column.lowercased()]
    else {
      throw NotIncremental(reason: "the collation of \(expression) is not known: write COLLATE")
    }
    guard let collation = Collation(rawValue: name) else {
      throw NotIncremental(reason: "only SQLite can compare by the collation \(name)")
    }
    return collation
  }

  /// Asks SQLite whether the rows of some keys are found by a search.
  private func checkPlan(_ plan: IncrementalPlan) throws {
    let steps = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + plan.sql(forKeys: 2))
    while try steps.step(in: db) {
      let detail = steps.value(at: 3).text
      guard detail.hasPrefix("SEARCH"), detail.contains("rowid=?") else {
        throw NotIncremental(reason: "SQLite would not search by key: \(detail)")
      }
    }
  }
}

extension SelectList {
  /// What was written for a column.
  fileprivate func expression(at position: Int) -> String {
    position < visible.count
      ? visible[position].quotedIdentifier : hidden[position - visible.count].expression
  }
}

extension String {
  fileprivate var mentionsCollate: Bool {
    SQLTokens.tokens(of: self).contains { $0.isWord("COLLATE") }
  }
}

extension SchemaFacts {
  /// The collation of each column, by its name in small letters.
  fileprivate func collations(of table: String) throws -> [String: String] {
    var result: [String: String] = [:]
    for column in columns(of: table) {
      var name: UnsafePointer<CChar>?
      guard
        sqlite3_table_column_metadata(
          db.sqliteConnection, nil, table, column, nil, &name, nil, nil, nil) == SQLITE_OK, let name
      else { continue }
      result[column.lowercased()] = String(cString: name).uppercased()
    }
    return result
  }
}
