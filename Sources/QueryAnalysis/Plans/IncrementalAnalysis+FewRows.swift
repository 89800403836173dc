import GRDB

// Tables with a handful of rows: settings, tiers, price bands. To look through one for a changed row takes no longer than to
// search in it, and an index would not be used.
//
// Whoever joins `item` with all of `settings`, or with the tier that `item.price` is in, has no condition to search by.
extension IncrementalAnalysis {
  /// So many rows are few. A table without any may get as many as it likes.
  private static let few = 64

  /// Has SQLite look through tables with few rows until a check finds nothing but searches beside.
  ///
  /// - Throws: ``NotIncremental`` where that is in vain.
  mutating func lookThroughFew(until check: (Self) throws -> Void) throws {
    while true {
      do {
        return try check(self)
      } catch let refusal as NotIncremental {
        guard let name = refusal.unsearched, tables(named: name).count == 1,
          let table = tables(named: name).first, hasFewRows(table),
          lookedThrough.insert(name).inserted
        else { throw refusal }
      }
    }
  }

  /// Whether a step of SQLite's plan looks through a table with few rows.
  func looksThroughFew(_ detail: String) -> Bool {
    !lookedThrough.isEmpty && Self.nameOfSource(in: detail).map(lookedThrough.contains) == true
  }

  /// The tables that SQLite knows by a name in its plan.
  private func tables(named name: String) -> Set<String> {
    let all = select.tables + subqueries.joins.flatMap(\.tables)
    let found = subqueries.keepable(named: name).filter { $0 < all.count }.map { all[$0].name }
    return select.tables(named: name).union(found)
  }

  private func hasFewRows(_ table: String) -> Bool {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM main.\(table.quotedIdentifier) LIMIT \(Self.few + 1))"
    let count = (try? Int.fetchOne(db, sql: sql)) ?? nil
    return count.map { 1...Self.few ~= $0 } == true
  }
}

extension ResolvedSelect {
  /// The tables that have a name in FROM, here or in a view.
  fileprivate func tables(named name: String) -> Set<String> {
    sources.reduce(into: []) { tables, source in
      switch source.body {
      case .table: if source.isNamed(name) { tables.insert(source.table) }
      case .select(let inner, _): tables.formUnion(inner.tables(named: name))
      case .search, .function: break
      }
    }
  }
}
