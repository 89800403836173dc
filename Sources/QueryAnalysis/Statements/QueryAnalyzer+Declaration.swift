import GRDB
import GRDBSQLite
import OrderedResults

// Definitions of the form "table, fields, predicate, order": the engine writes the SELECT.
extension QueryAnalyzer {
  mutating func shape(of declaration: QueryDefinition.Declaration) throws -> StatementShape {
    let columns = try columns(of: declaration.table)
    let parts = DeclaredParts(declaration)
    checkExpressions(of: parts, columns: columns)
    if !problems.isEmpty { throw QueryProblems(query: definition.name, problems: []) }
    let visible = try prepare(parts.select(parts.fields), part: .fields, columns: columns)
    try checkNamesAreUnique(visible.columnNames, part: .fields)

    var list = SelectList(visible: visible.columnNames)
    let key = try declaredKey(of: parts, visible: visible, list: &list)
    let section = definition.section.map {
      position(of: $0, in: &list, visible, columns: columns)
    }
    let title = definition.sectionIndexTitle.map {
      position(of: $0, in: &list, visible, columns: columns)
    }
    let sectionNeedsBytes =
      section.map { !isOrderedByBytes($0, parts: parts, list: list) } ?? false
    let candidate = IncrementalCandidate(
      syntax: parts.syntax, list: list, resultExpressions: [], leadingSection: section,
      sectionNeedsBytes: sectionNeedsBytes, key: key?.positions ?? [],
      keyIsFree: definition.key == nil, orderIsFree: true)
    var layout = RecordLayout(
      columns: list.visible, columnCount: list.count, key: key?.positions,
      keyIsUnique: try key?.isUnique == true && facts.textEncoding() == .utf8,
      keyNames: key?.names ?? [], section: section, sectionIndexTitle: title)
    do {
      let whole = parts.select(parts.fields)
      let shape = try shape(
        with: CommonValues(in: candidate.syntax.expressions, of: whole, db)
      ) { values in
        var candidate = candidate
        candidate.values = values
        candidate.syntax = candidate.syntax.mapExpressions { values?.replacing(in: $0) ?? $0 }
        return try incrementalShape(
          candidate, of: values?.replacing(in: whole) ?? whole, names: list.visible)
      }
      layout.take(shape)
      return StatementShape(
        sql: shape.sql, part: mainPart, layout: layout, plan: shape.plan,
        tracking: Tracking(mode: .incremental, reason: shape.reason), groups: shape.groups,
        owned: shape.owned)
    } catch let refusal as NotIncremental {
      let hidden = list.hidden.map { "\($0.parenthesized)" }
      let order = orderTerms(candidate)
      var shape = StatementShape(
        sql: parts.select(parts.fields + hidden, order: order), part: mainPart, layout: layout,
        plan: nil, tracking: Tracking(mode: .refetch, reason: refusal.reason))
      // Its order ends with the key already.
      _ = try limit(&shape, shape.sql, ending: [])
      return shape
    }
  }

  private func columns(of table: String) throws -> [String] {
    let columns = facts.columns(of: table)
    if columns.isEmpty {
      let known = try facts.tablesAndViews()
      if known.contains(where: { $0.isSameIdentifier(as: table) }) {
        // A view that does not prepare shows no columns either; SQLite says why.
        _ = try prepare("SELECT * FROM \(table.quotedIdentifier)", part: .table)
      }
      throw QueryProblem(
        part: .table, message: "there is no table or view \(table)",
        mend: "name a table or view of the database", unknownWord: table, knownWords: known)
    }
    return columns
  }

  /// Prepares each expression by itself, so that every problem is found and knows its place.
  private mutating func checkExpressions(of parts: DeclaredParts, columns: [String]) {
    probe(parts.fieldProbes, columns: columns)
    let fields = problems.isEmpty ? parts.fields : ["*"]
    probe(parts.clauseProbes(selecting: fields), columns: columns)
    let visible = (try? prepare(parts.select(fields), part: .fields).columnNames) ?? []
    let list = SelectList(visible: visible)
    for (part, expression) in sectionExpressions
    where list.position(ofVisible: expression) == nil {
      probe([parts.expressionProbe(expression, part: part)], columns: columns + visible)
      // It would make one record of all where nothing else does.
      if problems.isEmpty, parts.declaration.groupBy.isEmpty,
        !fields.contains(where: callsAggregate)
      {
        _ = try? collecting { try $0.check(expression, isOfRecord: part) }
      }
    }
  }

  private mutating func probe(_ probes: [DeclaredParts.Probe], columns: [String]) {
    for probe in probes {
      _ = try? collecting {
        try QueryProblem.check(fragment: probe.expression, part: probe.part)
        return try $0.prepare(probe.sql, part: probe.part, columns: columns)
      }
    }
  }

  /// Where an expression's value stands: in the visible column that it names, or else in a hidden
  /// column of its own.
  ///
  /// A field may take the name of a table column and show something else; then the name means the
  /// table's column, as it does in WHERE.
  private func position(
    of expression: String, in list: inout SelectList, _ visible: StatementText, columns: [String]
  ) -> Int {
    if let position = list.position(ofVisible: expression) {
      let name = list.visible[position]
      let isTableColumn = visible.origin(ofColumn: position)?.column.isSameIdentifier(as: name)
      if isTableColumn == true || !columns.contains(where: { $0.isSameIdentifier(as: name) }) {
        return position
      }
    }
    return list.append(hidden: expression)
  }

  // MARK: - Key

  private struct Key {
    var positions: [Int]
    var names: [String]
    var isUnique: Bool
  }

  private func declaredKey(
    of parts: DeclaredParts, visible: StatementText, list: inout SelectList
  ) throws -> Key? {
    if let names = definition.key {
      let positions = try names.enumerated().map { index, name in
        guard let position = list.position(ofVisible: name) else {
          throw unknownKeyColumn(name, at: index, known: list.visible)
        }
        return position
      }
      return Key(positions: positions, names: names, isUnique: false)
    }
    if !parts.declaration.groupBy.isEmpty {
      // SQLite makes one record for each combination of their values.
      let names = parts.declaration.groupBy
      return Key(positions: names.map { list.place(of: $0) }, names: names, isUnique: true)
    }
    // An aggregate without GROUP BY is always one record.
    if try returnsRowWithoutInput(parts) { return Key(positions: [], names: [], isUnique: true) }
    return try rowKey(of: parts, visible: visible, list: &list)
  }

  private func returnsRowWithoutInput(_ parts: DeclaredParts) throws -> Bool {
    guard parts.declaration.having == nil else { return false }
    let list = parts.fields.joined(separator: ", ")
    let text = try prepare(
      "SELECT \(list)\nFROM \(parts.table) WHERE 0 LIMIT 1", part: .fields)
    text.statement.setUncheckedArguments(StatementArguments())
    return try Row.fetchOne(text.statement) != nil
  }

  /// The primary key of the table, or of the tables whose keys a view shows whole.
  private func rowKey(
    of parts: DeclaredParts, visible: StatementText, list: inout SelectList
  ) throws -> Key? {
    let table = parts.declaration.table
    let isTable = try facts.isTable(table)
    let names: [String]
    let origins: [ColumnOrigin]
    var isUnique = false
    if isTable {
      let key = try facts.primaryKey(of: table)
      names = key.columns
      origins = key.columns.map { ColumnOrigin(table: table, column: $0) }
      isUnique = key.isUnique
    } else {
      let all = try prepare("SELECT * FROM \(parts.table)", part: .table)
      let positions = try keyFromOrigins(all.origins)
      names = positions.map { all.columnNames[$0] }
      origins = positions.compactMap { all.origin(ofColumn: $0) }
    }
    guard !names.isEmpty else { return nil }
    let positions = zip(names, origins).map { name, origin in
      visible.origins.position(of: origin) ?? list.append(hidden: name.quotedIdentifier)
    }
    return Key(positions: positions, names: names, isUnique: isUnique)
  }

  // MARK: - Order

  /// Section first, then the declared terms, then the key, so that the order is total.
  ///
  /// Ordinals name the result columns, so that the section's name and its place in the order are
  /// one expression: https://www.sqlite.org/lang_select.html#orderby
  private func orderTerms(_ candidate: IncrementalCandidate) -> [String] {
    let order = candidate.syntax.order
    let direction = order.last.map { OrderTerm($0).isDescending } == true ? " DESC" : ""
    return candidate.sectionTerms + order + candidate.key.map { "\($0 + 1)\(direction)" }
  }

  /// Whether a result column is known to be a table column with the collation BINARY.
  private func isOrderedByBytes(
    _ position: Int, parts: DeclaredParts, list: SelectList
  ) -> Bool {
    let expression =
      position < list.visible.count
      ? list.visible[position].quotedIdentifier
      : list.hidden[position - list.visible.count]
    let sql = "SELECT \(expression)\nFROM \(parts.table)"
    guard !expression.lowercased().contains("collate"),
      let origin = try? prepare(sql, part: .section).origin(ofColumn: 0)
    else { return false }
    return facts.collation(of: origin) == "BINARY"
  }
}
