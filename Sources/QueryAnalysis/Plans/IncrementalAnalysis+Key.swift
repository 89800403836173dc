// The columns that tell records apart, and where columns of tables are shown.
extension IncrementalAnalysis {
  /// The table's columns behind result columns.
  func origins(_ positions: [Int]) -> Set<BaseColumn> {
    Set(positions.compactMap { origin(ofColumn: $0) })
  }

  func origin(ofColumn position: Int) -> BaseColumn? {
    expression(ofColumn: position).flatMap(shown.origin(of:))
  }

  /// What was written for a column; nil: not certain.
  func expression(ofColumn position: Int) -> String? {
    position < list.visible.count
      ? items?[position].expression : list.hidden[position - list.visible.count]
  }

  /// Whether no two records show the same key. Text of UTF-16 that is not the same may look the same.
  var keyIsUnique: Bool {
    tiebreakers.isEmpty && (encoding == .utf8 || key.allSatisfy(isRowID))
  }

  /// The tables whose rows follow from the key and what comes behind it.
  private var known: Set<Int> {
    determination.closure(of: determination.identified(by: origins(key + tiebreakers)))
  }

  /// Adds columns to the key until it is unique, or rowids behind it.
  mutating func completeKey(_ owner: Int) throws {
    for table in [owner] + Array(select.tables.indices) where !known.contains(table) {
      if select.tables[table].identity.isEmpty { continue }
      if showsKey(of: table) {
        tiebreakers += positions(ofRow: table)
      } else if candidate.keyIsFree {
        let names = select.tables[table].identityNames
        for (position, name) in zip(positions(ofRow: table), names) where !key.contains(position) {
          key.append(position)
          addedKeyNames.append(name)
        }
      }
    }
    guard known.count == select.tables.count else {
      throw NotIncremental(reason: "several records may have one key")
    }
    for number in select.functionIDs.indices { addID(ofFunction: number) }
  }

  /// Adds what tells the rows of a table-valued function apart to the key, or behind it.
  private mutating func addID(ofFunction number: Int) {
    let id = select.functionIDs[number]
    let column = GroupTerm(id, in: select)
    let position =
      (0..<list.count).first { shows(column, at: $0) }
      ?? list.append(hidden: shown.functionIDs[number])
    if key.contains(position) { return }
    if candidate.keyIsFree {
      key.append(position)
      let source = SQLTokens.tokens(of: id).columnName?.qualifier
      addedKeyNames.append(source.map { "\($0).id" } ?? "id")
    } else {
      tiebreakers.append(position)
    }
  }

  /// Whether the key has a table's primary key, though that may hold NULL more than once.
  private func showsKey(of table: Int) -> Bool {
    let shown = Set(origins(key).filter { $0.table == table }.map(\.name))
    let columns = (try? facts.primaryKey(of: select.tables[table].name).columns) ?? []
    return !columns.isEmpty && shown.isSuperset(of: columns.map { $0.lowercased() })
  }

  func isRowID(_ position: Int) -> Bool {
    guard let origin = origin(ofColumn: position) else { return false }
    let table = select.tables[origin.table]
    return table.rowID != nil && table.rowIDColumn?.lowercased() == origin.name
  }

  /// The columns that show what tells a table's rows apart.
  mutating func positions(ofRow table: Int) -> [Int] {
    let (names, identity) = (select.tables[table].identityNames, shown.tables[table].identity)
    return zip(names, identity).map { name, expression in
      position(of: BaseColumn(table: table, name: name), or: expression)
    }
  }

  /// The column that shows a table's column, or else a hidden one.
  mutating func position(of column: BaseColumn, or expression: String) -> Int {
    for position in 0..<list.count where origin(ofColumn: position) == column { return position }
    if let hidden = list.hidden.firstIndex(of: expression) {
      return list.visible.count + hidden
    }
    return list.append(hidden: expression)
  }
}
