import GRDB
import OrderedResults
import QueryAnalysis

// The owners of records, and what they own.
extension LiveResult {
  func makeIndex(
    _ results: Results, _ plan: IncrementalPlan, _ contributions: inout Contributions?
  ) -> OwnerIndex {
    if case .row(let column) = plan.owner { return OwnerIndex(results, ownersInColumn: column) }
    return OwnerIndex(results) { plan.number(ofOwnerOf: $0, &contributions) }
  }

  /// The records of some owners, found without an index, for which there is no room.
  ///
  /// O(n), n records.
  func records(
    of owners: [Int64], in results: Results, _ plan: IncrementalPlan,
    _ contributions: inout Contributions?
  ) -> [OrderedResults.Record] {
    let index: OwnerIndex
    if case .row(let column) = plan.owner {
      index = OwnerIndex(results, ownersInColumn: column, among: owners)
    } else {
      index = OwnerIndex(results, among: owners) { plan.number(ofOwnerOf: $0, &contributions) }
    }
    let known = contributions
    return owners.flatMap { records(of: $0, index, plan, known) }
  }

  func records(
    of owner: Int64, _ index: OwnerIndex, _ plan: IncrementalPlan, _ contributions: Contributions?
  ) -> [OrderedResults.Record] {
    switch plan.owner {
    case .row(let column): return index.records(of: owner, inColumn: column)
    case .keyedRow(let columns, let key):
      return index.records(of: owner) { record in
        key.number(of: columns.lazy.map(record.value)) == owner
      }
    case .rowOfArm(let columns, let arms):
      return index.records(of: owner) { record in
        arms.number(of: columns.map(record.value)) == owner
      }
    // The owners are rows, and their records those of all that have the same values.
    case .values: return []
    case .group(let columns):
      guard let numbers = contributions?.numbers else { return [] }
      let group = numbers[owner]
      return index.records(of: owner) { record in
        numbers.representative(of: columns.map(record.value)) == group
      }
    }
  }

  /// Finds the owners that the rows contributed to before, and those that they contribute to now.
  ///
  /// `keys` has those that changed themselves, where there are no contributions.
  ///
  /// - Returns: false where they are too many, of a result of `total` records.
  /// - Throws: `DatabaseError`; what was found until then is there.
  func find(
    _ owners: inout Set<Int64>, of changed: [ChangedRows], _ plan: IncrementalPlan,
    _ arguments: QueryArguments, _ contributions: inout Contributions?, _ keys: inout RowKeys,
    atMost total: Int, in db: Database
  ) throws -> Bool {
    let areWorthwhile = { self.isWorthwhile($0, of: total, plan, arguments) }
    for rows in changed {
      if rows.lead.isOwner {
        guard let own = plan.owners(of: rows) else { return false }
        owners.formUnion(own.numbers)
        for (number, key) in own.keys {
          keys.insert(key, number)
          contributions?.note(key, of: number)
        }
      }
      guard let position = rows.lead.position else { continue }
      for rowID in rows.rowIDs {
        owners.formUnion(contributions?.take(rowID, at: position, plan) ?? [])
        if !areWorthwhile(owners.count) { return false }
      }
    }
    guard contributions != nil else { return true }
    for rows in changed {
      for search in rows.lead.searches {
        try search.forEach(rows, arguments: arguments, in: db) {
          while try $0.step(in: db) {
            owners.formUnion(contributions?.enter($0, of: search.contribution, plan) ?? [])
            if contributions?.isOutworn == true || !areWorthwhile(owners.count) { return }
          }
        }
        if contributions?.isOutworn == true || !areWorthwhile(owners.count) { return false }
      }
    }
    contributions?.sweepMembers(of: owners)
    return true
  }

  /// The records of some owners, as they are in the database, noting how long it takes to read one's.
  func read(
    _ owners: [Int64], _ plan: IncrementalPlan, _ contributions: Contributions?, _ keys: RowKeys,
    _ arguments: QueryArguments, layout: RecordLayout, in db: Database
  ) throws -> [OrderedResults.Record] {
    let start = ContinuousClock.now
    let records = try plan.fetch(
      owners, contributions, contributions?.keys ?? keys, arguments: arguments, layout: layout,
      in: db)
    if !owners.isEmpty {
      note(readingGroupsBy: plan, took: (ContinuousClock.now - start) / owners.count)
    }
    return records
  }
}

extension IncrementalPlan {
  /// Whether records cannot be found by looking at all of them: it is asked for which values there are any.
  var needsIndex: Bool { if case .values = owner { true } else { false } }
}
