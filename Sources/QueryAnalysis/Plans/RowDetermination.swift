import GRDB

/// Which tables' rows follow from the rows of others, because a unique key is asked to equal
/// something of them.
///
/// Read from the conditions of WHERE and ON that have the form `column = column`,
/// `column = constant` or `column = (SELECT …)`, joined by AND at the outermost level; others prove nothing.
struct RowDetermination {
  /// A column of a table equals something that is known with these tables' rows.
  private struct Equality {
    let column: BaseColumn
    /// The column of another table that it equals, if it is one.
    var other: BaseColumn?
    /// The same as it is written, if that is not within a source of FROM.
    var text: String?
    let known: Set<Int>
    /// Where the comparison is that of the column's own index; else it may take different values
    /// of the column for equal.
    let isExact: Bool
  }

  private let db: Database
  private let facts: SchemaFacts
  private var equalities: [Equality] = []
  private var isWithinSource = false
  private let tables: [BaseTable]
  private let knowsFunctions: Bool

  /// - Parameters:
  ///   - select: whose conditions are looked at.
  ///   - db: knows the keys of its tables.
  ///   - knowsFunctions: whether one row of each table-valued function is given.
  init(_ select: ResolvedSelect, _ db: Database, knowsFunctions: Bool = false) {
    self.db = db
    self.knowsFunctions = knowsFunctions
    facts = SchemaFacts(db: db)
    tables = select.tables
    collect(select, first: 0)
  }

  /// The columns that must equal something.
  var comparedColumns: [BaseColumn] { equalities.map(\.column) }

  /// What a column equals wherever there is a row of its table.
  struct JoinedColumn {
    let column: BaseColumn
    let other: BaseColumn
    /// The other one as it is written in the SELECT.
    let text: String
  }

  /// The columns that equal one of another table, where the SELECT itself says so.
  var joinedColumns: [JoinedColumn] {
    equalities.compactMap { equality in
      guard let other = equality.other, let text = equality.text else { return nil }
      return JoinedColumn(column: equality.column, other: other, text: text)
    }
  }

  /// The tables of which at most one row goes with a row of each of `known`.
  ///
  /// - Parameters:
  ///   - known: numbers of tables.
  ///   - columns: of whose values there is one besides, though there may be several rows. What a LEFT JOIN
  ///     may leave out does not follow from these: another condition may decide about each row.
  /// - Returns: their numbers, with those of `known`.
  func closure(of known: Set<Int>, with columns: Set<BaseColumn> = []) -> Set<Int> {
    var known = known
    while let next = tables.indices.first(where: {
      !known.contains($0) && isDetermined($0, by: known, columns)
    }) {
      known.insert(next)
    }
    return known
  }

  /// The tables whose rows are identified by some of these columns.
  func identified(by columns: Set<BaseColumn>) -> Set<Int> {
    Set(
      tables.indices.filter { table in
        let names = Set(columns.filter { $0.table == table }.map(\.name))
        return keys(of: tables[table]).contains { names.isSuperset(of: $0) }
      })
  }

  /// Whether rows of two tables are joined only where their rowids are the same.
  func areOne(_ table: Int, _ owner: Int) -> Bool {
    guard let column = rowIDColumn(of: table), let other = rowIDColumn(of: owner) else {
      return false
    }
    return equalities.contains { $0.column == column && $0.other == other }
  }

  private func rowIDColumn(of table: Int) -> BaseColumn? {
    guard tables[table].rowID != nil else { return nil }
    return tables[table].rowIDColumn.map { BaseColumn(table: table, name: $0) }
  }

  private func isDetermined(
    _ table: Int, by known: Set<Int>, _ columns: Set<BaseColumn>
  ) -> Bool {
    let usable = equalities.filter { equality in
      guard equality.column.table == table else { return false }
      let isColumn = equality.other.map(columns.contains) ?? false
      return known.isSuperset(of: equality.known) || isColumn && !tables[table].isNullable
    }
    let rowID = tables[table].rowIDColumn?.lowercased()
    // A rowid is an integer, which equals one number only.
    if tables[table].rowID != nil, usable.contains(where: { $0.column.name == rowID }) {
      return true
    }
    let columns = Set(usable.filter(\.isExact).map(\.column.name))
    // A unique index may hold NULL any number of times, but nothing equals NULL.
    return facts.uniqueIndexes(of: tables[table].name).contains { columns.isSuperset(of: $0) }
  }

  // MARK: - Equalities

  private mutating func collect(_ select: ResolvedSelect, first: Int) {
    if let predicate = select.syntax.predicate {
      collect(SQLTokens.tokens(of: predicate)[...], select, first, only: nil)
    }
    for (index, source) in select.sources.enumerated() {
      let range = select.tables(ofSource: index)
      // What a LEFT JOIN asks is only asked of the rows that it joins.
      let only = source.isLeftJoined ? range : nil
      switch source.constraint {
      case .none: break
      case .on(let condition):
        collect(SQLTokens.tokens(of: condition)[...], select, first, only: only)
      case .using(let names): for name in names { collect(using: name, index, select, first) }
      }
      if case .select(let inner, _) = source.body {
        let isWithinOther = isWithinSource
        isWithinSource = true
        collect(inner, first: first + range.lowerBound)
        isWithinSource = isWithinOther
      }
    }
  }

  private mutating func collect(
    _ condition: ArraySlice<SQLToken>, _ select: ResolvedSelect, _ first: Int, only: Range<Int>?
  ) {
    for term in condition.conjuncts {
      let inner = term.withoutParentheses
      if ["SELECT", "WITH", "VALUES"].contains(where: { inner.first?.isWord($0) == true }) {
        continue
      }
      if inner.count < term.count {
        collect(inner.atDepthZero[...], select, first, only: only)
        continue
      }
      guard let equals = term.firstIndex(where: { $0.isSymbol("=") && $0.depth == 0 }) else {
        continue
      }
      let left = term[..<equals]
      var right = term[(equals + 1)...]
      if right.first?.isSymbol("=") == true { right.removeFirst() }
      add(left, equals: right, select, first, only)
      add(right, equals: left, select, first, only)
    }
  }

  private mutating func add(
    _ left: ArraySlice<SQLToken>, equals right: ArraySlice<SQLToken>, _ select: ResolvedSelect,
    _ first: Int, _ only: Range<Int>?
  ) {
    guard let column = left.columnName.flatMap(select.origin(of:)),
      only?.contains(column.table) != false
    else { return }
    let shifted = BaseColumn(table: first + column.table, name: column.name)
    if right.count == 1, let kind = right.first?.kind,
      kind == .number || kind == .string || kind == .parameter
    {
      equalities.append(Equality(column: shifted, known: [], isExact: true))
    } else if right.withoutParentheses.first?.isWord("SELECT") == true {
      // The value is one, whichever it is, for the rows that the subquery looks at.
      let seen = select.sources(in: right, allowingAliases: false)
      if seen.contains(where: { !select.sources[$0].functionIDs.isEmpty }) { return }
      let known = seen.flatMap { select.tables(ofSource: $0) }
      equalities.append(
        Equality(column: shifted, known: Set(known.map { $0 + first }), isExact: false))
    } else if let name = right.columnName {
      let sources = select.sources(in: right, allowingAliases: false)
      if sources.isEmpty { return }
      if sources.contains(where: { select.sources[$0].isFunction }) {
        // A function has several rows for what it is called with. Its columns have no affinity, and take only
        // such values for equal that are the same for whatever index.
        guard knowsFunctions, sources.allSatisfy({ select.sources[$0].isFunction }) else { return }
        equalities.append(Equality(column: shifted, known: [], isExact: true))
        return
      }
      let known = sources.flatMap { select.tables(ofSource: $0) }
      let other = select.origin(of: name)
      equalities.append(
        Equality(
          column: shifted,
          other: other.map { BaseColumn(table: first + $0.table, name: $0.name) },
          text: isWithinSource ? nil : right.sourceText,
          known: Set(known.map { $0 + first }),
          isExact: other.map { comparesExactly(column, $0, in: select) } ?? false))
    }
  }

  private mutating func collect(
    using name: String, _ index: Int, _ select: ResolvedSelect, _ first: Int
  ) {
    guard let before = select.sources[..<index].firstIndex(where: { $0.has(column: name) }),
      let column = select.origin(
        of: ColumnName(qualifier: select.sources[index].name, name: name))
    else { return }
    let known = select.tables(ofSource: before).map { $0 + first }
    let source = select.sources[before].name
    let other = select.origin(of: ColumnName(qualifier: source, name: name))
    equalities.append(
      Equality(
        column: BaseColumn(table: first + column.table, name: column.name),
        other: other.map { BaseColumn(table: first + $0.table, name: $0.name) },
        text: isWithinSource ? nil : "\(source.quotedIdentifier).\(name.quotedIdentifier)",
        known: Set(known),
        isExact: false))
  }

  // MARK: - Keys

  /// Whether two columns are alike in collation and affinity, so that they are compared as both
  /// are by their own indexes.
  private func comparesExactly(
    _ column: BaseColumn, _ other: BaseColumn, in select: ResolvedSelect
  ) -> Bool {
    let mine = facts.comparison(of: column.name, in: select.tables[column.table].name)
    return mine != nil
      && mine == facts.comparison(of: other.name, in: select.tables[other.table].name)
  }

  /// The sets of columns that identify a table's rows: its rowid, and its primary key.
  private func keys(of table: BaseTable) -> [Set<String>] {
    var keys: [Set<String>] = []
    if table.rowID != nil, let rowID = table.rowIDColumn {
      keys.append([rowID.lowercased()])
    }
    if let key = try? facts.primaryKey(of: table.name), key.isUnique {
      let columns = Set(key.columns.map { $0.lowercased() })
      keys += facts.uniqueIndexes(of: table.name).filter { $0 == columns }
    }
    return keys
  }
}

extension SchemaFacts {
  /// How values of a column compare: its collation and its affinity.
  struct Comparison: Equatable {
    let collation: String
    let affinity: ColumnAffinity
  }

  func comparison(of column: String, in table: String) -> Comparison? {
    guard let collation = collations(of: table)[column],
      let type = try? db.columns(in: table).first(where: { $0.name.isSameIdentifier(as: column) })?
        .type
    else { return nil }
    // https://www.sqlite.org/stricttables.html
    let isOfAnyType = type.isSameIdentifier(as: "ANY") && isStrict(table)
    return Comparison(
      collation: collation, affinity: isOfAnyType ? .blob : ColumnAffinity(declaredType: type))
  }

  private func isStrict(_ table: String) -> Bool {
    let sql = """
      SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE
      """
    return (try? Bool.fetchOne(db, sql: sql, arguments: [table])) == true
  }

  /// The columns of each unique index, in small letters, where the index compares as they do.
  ///
  /// https://www.sqlite.org/pragma.html#pragma_index_xinfo
  fileprivate func uniqueIndexes(of table: String) -> [Set<String>] {
    let collations = collations(of: table)
    let names =
      (try? String.fetchAll(
        db, sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial",
        arguments: [table])) ?? []
    return names.compactMap { name in
      let rows =
        (try? Row.fetchAll(
          db, sql: "SELECT lower(name), upper(coll) FROM pragma_index_xinfo(?) WHERE key",
          arguments: [name])) ?? []
      var columns: Set<String> = []
      for row in rows {
        guard let column = row[0] as String?, let collation = row[1] as String?,
          collations[column] == collation
        else { return nil }
        columns.insert(column)
      }
      return columns
    }
  }
}

/// https://www.sqlite.org/datatype3.html#determination_of_column_affinity
enum ColumnAffinity {
  case integer, text, blob, real, numeric

  init(declaredType: String) {
    let type = declaredType.uppercased()
    let words: [(ColumnAffinity, [String])] = [
      (.integer, ["INT"]), (.text, ["CHAR", "CLOB", "TEXT"]), (.blob, ["BLOB"]),
      (.real, ["REAL", "FLOA", "DOUB"]),
    ]
    let found = words.first { $0.1.contains(where: type.contains) }?.0
    self = found ?? (type.isEmpty ? .blob : .numeric)
  }
}
