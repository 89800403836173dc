import Algorithms

// How changed rows lead to owners.
extension IncrementalAnalysis {
  /// What is known of a table that the query, or a subquery of it, reads.
  struct Lead {
    let table: BaseTable
    var refusal: String?
    var remedy: String?
    /// Whether its rows are joined to owners by nothing but the rowids of both.
    var isOne = false
    var position: Int?
    var searches: [IncrementalPlan.Search] = []
  }

  /// Rows joined by certain conditions such that those of some tables lead to owners.
  struct Joined {
    var select: ResolvedSelect
    /// The query's numbers of its tables.
    var numbers: [Int]
    /// Which of them contribute here.
    var own: [Int]
    let ownerColumns: [String]
    var ownersAreGroups = false
    /// FROM with one row of each group, where all are asked alike; nil: with every row.
    var groups: String?
    /// Tables that were left out, and the values by which they are joined to these.
    var left: [LeftTable] = []
    /// Why SQLite may not search by key, if somebody knows better than SQLite.
    var doubt: String?
  }

  /// How changed rows of each table lead to owners: the owner's own table, if there is one, first.
  func leads(
    owner: Int?, ownerColumns: [String]
  ) throws -> (
    leads: [IncrementalPlan.Lead], contributions: [ContributionStatement],
    keptRows: [IncrementalPlan.KeptRows]
  ) {
    var leads = (select.tables + subqueries.joins.flatMap(\.tables)).map { table in
      Lead(table: table, refusal: table.lack)
    }
    var contributions: [ContributionStatement] = []
    if let owner { leads[owner].refusal = nil }
    var own = select.tables.indices.filter { $0 != owner }
    // Whatever the query asks of a row, it is compared with others.
    if let number = numberOfExtreme {
      own.removeAll { $0 == number }
      try join(
        Joined(
          select: select.alone(table: number), numbers: [number], own: [number],
          ownerColumns: ownerColumns, ownersAreGroups: true), nil, &leads, &contributions)
    }
    try join(
      Joined(
        select: implied.select.certain.withoutFunctions(unseenBy: ownerColumns),
        numbers: Array(select.tables.indices), own: own, ownerColumns: ownerColumns,
        ownersAreGroups: owner == nil), owner, &leads, &contributions)
    if owner == nil, let first = leads[0].refusal, contributions.isEmpty {
      throw NotIncremental(reason: first)
    }
    for (index, subquery) in subqueries.joins.enumerated() {
      let columns = ownerColumns.compactMap(subqueries.outermostNames.qualified)
      guard subquery.refusal == nil, columns.count == ownerColumns.count else {
        for number in subquery.ownNumbers {
          leads[number].refusal = subquery.refusal ?? "what it is grouped by is not certain"
        }
        continue
      }
      let joined = Joined(
        select: subquery.select.withoutFunctions(unseenBy: columns),
        numbers: subquery.numbers, own: Array(subquery.ownNumbers), ownerColumns: columns,
        ownersAreGroups: owner == nil,
        groups: owner == nil && select.isGrouped && !ownersArePartitions
          && index >= subqueries.joinsOfRows
          ? oneRowOfEachGroup(ownerColumns, joinedBy: subquery.select) : nil,
        doubt: subquery.doubt)
      try join(leavingOutImplied(joined), owner, &leads, &contributions)
    }
    let order = [owner].compactMap(\.self) + leads.indices.filter { $0 != owner }
    let all = order.map { number in
      IncrementalPlan.Lead(
        table: leads[number].table.name, storage: leads[number].table.storage,
        isOwner: number == owner || leads[number].isOne, searches: leads[number].searches,
        position: leads[number].position, refusal: leads[number].refusal,
        remedy: leads[number].remedy)
    }
    return (all, contributions, try keptRows(leads, contributions))
  }

  /// A subquery's join without the tables that are joined to more rows than they were, where others lead to owners
  /// without them: each row would lead there as often as there are rows of these.
  private func leavingOutImplied(_ joined: Joined) throws -> Joined {
    try implied.tables.sorted().reduce(joined) { joined, number in
      guard joined.groups == nil, !joined.own.contains(number),
        let rest = leavingOut(number, of: joined, from: nil),
        try rest.own.allSatisfy({ try refusal(of: $0, [$0], rest) == nil })
      else { return joined }
      return rest
    }
  }

  /// Finds out which of the tables of a join can contribute, and enters how.
  private func join(
    _ joined: Joined, _ owner: Int?, _ leads: inout [Lead],
    _ contributions: inout [ContributionStatement]
  ) throws {
    findThoseThatAreOne(with: owner, joined, &leads)
    let searched = try leavingOutUnsearched(joined, &leads)
    try enterSearches(of: searched, &leads, &contributions)
  }

  /// So often tables are left out, for others may be searched no more then.
  private static let mostRounds = 3

  /// The same without the tables that SQLite would not search by key from. What is joined then is more,
  /// and does not depend on whether they have a row; changed rows of theirs lead to owners by an index in
  /// memory.
  private func leavingOutUnsearched(_ joined: Joined, _ leads: inout [Lead]) throws -> Joined {
    var rest = try leavingOutKept(joined)
    for round in 0...Self.mostRounds {
      let own = rest.own.filter { !leads[$0].isOne && leads[$0].table.lack == nil }
      for number in own { leads[number].refusal = try refusal(of: number, [number], rest) }
      let reached = own.filter { leads[$0].refusal == nil }
      guard round < Self.mostRounds else { break }
      let unsearched = own.filter { leads[$0].refusal != nil }
      var next = unsearched.reduce(rest) { leavingOut($1, of: $0, from: joined) ?? $0 }
      if next.numbers.count == rest.numbers.count, !reached.isEmpty || !rest.left.isEmpty {
        let others = try others(in: rest, leads).filter {
          try refusal(of: $0, reached, rest) != nil
        }
        if others.isEmpty { break }
        next = (others + unsearched).reduce(rest) { leavingOut($1, of: $0, from: nil) ?? $0 }
      }
      if next.numbers.count == rest.numbers.count { break }
      rest = next
    }
    return rest
  }

  /// Tables that contribute elsewhere, or are the owner's: a changed row of these may join others to
  /// owners.
  private func others(in joined: Joined, _ leads: [Lead]) -> [Int] {
    joined.numbers.uniqued().filter { number in
      leads[number].refusal == nil && (leads[number].isOne || !joined.own.contains(number))
    }
  }

  private func enterSearches(
    of joined: Joined, _ leads: inout [Lead], _ contributions: inout [ContributionStatement]
  ) throws {
    let first = contributions.last?.positions.upperBound ?? 0
    let own = joined.own.filter { !leads[$0].isOne }
    let reached = own.filter { leads[$0].refusal == nil }
    if reached.isEmpty, joined.left.isEmpty { return }
    for number in joined.own where leads[number].isOne {
      leads[number].refusal = try refusal(of: number, reached, joined)
      leads[number].isOne = leads[number].refusal == nil
    }
    let others = others(in: joined, leads).filter { !own.contains($0) }
    for number in others {
      guard let refusal = try refusal(of: number, reached, joined) else { continue }
      for own in reached + joined.left.map(\.number) { leads[own].refusal = refusal }
      return
    }
    for (offset, number) in reached.enumerated() { leads[number].position = first + offset }
    for number in reached + others {
      leads[number].searches.append(
        IncrementalPlan.Search(
          contribution: contributions.count, statement: search(number, reached, joined)))
    }
    let values = joined.values(of: nil)
    let end = first + reached.count
    contributions.append(
      ContributionStatement(
        sql: body(of: joined, reached, from: joined.groups),
        positions: first..<end + values.count,
        keys: numbered(joined, reached).map(\.key) + values.map(\.key),
        tellsLoss: !lossColumn(of: joined).isEmpty))
    enterValues(of: joined, at: end, &leads, &contributions)
  }

  /// A row that is joined by its rowid to the row of the same rowid needs no search to lead to it.
  private func findThoseThatAreOne(with owner: Int?, _ joined: Joined, _ leads: inout [Lead]) {
    guard let owner else { return }
    // What a view shows may stand there a second time.
    let places = joined.numbers.indices.filter { joined.numbers[$0] == owner }
    let determination = RowDetermination(joined.select, db)
    for number in joined.own where leads[number].refusal == nil {
      guard let table = joined.numbers.firstIndex(of: number) else { continue }
      leads[number].isOne = places.contains { determination.areOne(table, $0) }
    }
  }

  /// Why changed rows of a table do not lead to owners.
  private func refusal(of number: Int, _ reached: [Int], _ joined: Joined) throws -> String? {
    do {
      try checkSearches(search(number, reached, joined).sql(forKeys: 2))
      return nil
    } catch let refusal as NotIncremental {
      return joined.doubt ?? refusal.reason
    }
  }

  private func search(_ number: Int, _ reached: [Int], _ joined: Joined) -> KeyedStatement {
    let table = joined.numbers.firstIndex(of: number) ?? 0
    return Self.keyed(joined.select.tables[table].identity) {
      body(of: joined, reached, condition: $0, requiring: table)
    }
  }

  /// The tables whose rows contribute, in the order of their positions.
  private func numbered(_ joined: Joined, _ reached: [Int]) -> [BaseTable] {
    zip(joined.numbers, joined.select.tables).filter { reached.contains($0.0) }.map(\.1)
  }

  /// The rowids of these tables, and to which owner they contribute.
  private func body(
    of joined: Joined, _ reached: [Int], from: String? = nil, condition: String? = nil,
    requiring table: Int? = nil
  ) -> String {
    DeclaredParts.select(
      numbered(joined, reached).flatMap(\.identity) + joined.values(of: nil).map(\.text)
        + joined.ownerColumns + lossColumn(of: joined),
      from: from ?? joined.select.from(requiring: table),
      conditions: [joined.select.syntax.predicate?.parenthesized, condition].compactMap(\.self),
      groupBy: [], having: nil)
  }
}
