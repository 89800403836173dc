// Tables of which SQLite would look at all rows to find those of an owner: which rows these may be is kept
// in memory, and the records are read of no others.
//
// A row decides about an owner only where both have a value in common, by which it leads there
// (``LeftTable``). So to leave out rows that do not have it changes nothing of the owner's records.
extension IncrementalAnalysis {
  /// Of which tables rows may be kept that SQLite would look through: where all joined tables have no
  /// index, it is not enough to keep those that it names. It may look through those that have few rows, if nothing else
  /// helps.
  enum Keeping: CaseIterable { case none, unsearched, all, few }

  /// How many owners are tried for which rows would be kept, and how often tables are added of which: each
  /// time SQLite is asked for its plan.
  static let mostTriedKeeping = 3

  /// Has rows of tables kept that SQLite would look through, but not of those that make owners, until a
  /// check finds nothing but searches.
  ///
  /// - Throws: ``NotIncremental`` where that is in vain.
  mutating func keepRows(
    _ keeping: Keeping, besides owners: Set<Int>, until check: (Self) throws -> Void
  ) throws {
    if keeping == .none { return try check(self) }
    if keeping == .few { return try lookThroughFew(until: check) }
    let mayKeep = !dependsOnOrder
    if mayKeep, keeping == .all {
      let all = keepable.subtracting(owners)
      guard 2...Self.mostTriedKeeping ~= all.count else {
        throw NotIncremental(reason: "there are no others to keep")
      }
      try keep(all)
    }
    for round in 0... {
      do {
        return try check(self)
      } catch let refusal as NotIncremental {
        let more = (refusal.unsearched.map(keepable(named:)) ?? []).subtracting(owners)
        guard mayKeep, !more.isSubset(of: kept), round < Self.mostTriedKeeping else {
          throw refusal
        }
        try keep(more)
      }
    }
  }

  /// The query, for a few owners.
  var narrowed: ResolvedSelect {
    select.tables.indices.filter(kept.contains).reduce(subqueries.narrowed) { select, table in
      facts.listCondition(select.tables[table], in: Self.keptParameter(table)).map {
        select.restricting(table, to: $0)
      } ?? select
    }
  }

  /// What the names of parameters begin with that take rowids.
  static let keptName = "didchange_rows_"

  /// The one that takes those of a table.
  static func keptParameter(_ table: Int) -> String { ":\(keptName)\(table)" }

  /// The tables that SQLite knows by a name in its plan.
  func keepable(named name: String) -> Set<Int> {
    keepable { $0.name.isSameIdentifier(as: name) }.union(subqueries.keepable(named: name))
  }

  /// All tables of which rows may be kept.
  var keepable: Set<Int> { keepable { _ in true }.union(subqueries.keepableTables) }

  private func keepable(_ isMeant: (ResolvedSource) -> Bool) -> Set<Int> {
    let own = select.tables.indices.filter { table in
      select.tables[table].storage == nil
        && facts.listCondition(select.tables[table], in: "NULL") != nil
        && select.sources.indices.contains { index in
          isMeant(select.sources[index]) && select.tables(ofSource: index) == table..<table + 1
        }
    }
    return Set(own)
  }

  /// What a step of SQLite's plan looks through: "SCAN name", "SEARCH name USING AUTOMATIC …".
  static func nameOfSource(in step: String) -> String? {
    let words = step.split(separator: " ", omittingEmptySubsequences: false)
    guard let verb = words.first, verb == "SCAN" || verb == "SEARCH", words.count > 1 else {
      return nil
    }
    let ends = [" USING ", " LEFT-JOIN", " VIRTUAL TABLE "]
    let name = step.dropFirst(verb.count + 1)
    let end = ends.compactMap { name.firstRange(of: $0)?.lowerBound }.min() ?? name.endIndex
    return String(name[..<end])
  }

  /// How what is kept is found from an owner.
  ///
  /// - Throws: ``NotIncremental`` where it is not.
  func keptRows(
    _ leads: [Lead], _ contributions: [ContributionStatement]
  ) throws(NotIncremental) -> [IncrementalPlan.KeptRows] {
    var rows: [IncrementalPlan.KeptRows] = []
    for table in kept.sorted() {
      guard let own = leads[table].position, leads[table].refusal == nil else {
        throw NotIncremental(reason: leads[table].refusal ?? "its rows lead to no owner")
      }
      var positions = [own]
      while let link = contributions.first(where: { $0.positions.contains(positions[0]) })?.link {
        positions.insert(link.position, at: 0)
      }
      let parameter = String(Self.keptParameter(table).dropFirst())
      rows.append(.init(parameter: parameter, positions: positions))
    }
    return rows
  }

  /// What is joined without the tables whose rows are kept, which are found by values.
  ///
  /// - Throws: ``NotIncremental`` where one has no such value.
  func leavingOutKept(_ joined: Joined) throws(NotIncremental) -> Joined {
    var rest = joined
    for table in joined.own where kept.contains(table) {
      guard let next = leavingOut(table, of: rest, from: joined) else {
        throw NotIncremental(reason: "no value leads from its rows to owners")
      }
      rest = next
    }
    return rest
  }
}

extension ResolvedSelect {
  /// The same with a condition on the rows of a table that FROM names.
  fileprivate func restricting(_ table: Int, to condition: String) -> ResolvedSelect {
    guard let index = sources.indices.first(where: { tables(ofSource: $0) == table..<table + 1 })
    else { return self }
    var copy = self
    switch sources[index].constraint {
    case .on(let other) where index > 0:
      copy.sources[index].constraint = .on("\(other.parenthesized) AND \(condition)")
    case .none where index > 0: copy.sources[index].constraint = .on(condition)
    case .using where sources[index].isLeftJoined: break
    case .on, .none, .using: copy = restricted(to: condition)
    }
    return copy
  }
}
