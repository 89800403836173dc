// Aggregates of the rows of each group.
extension AggregateAnalysis {
  /// How groups are kept by what their rows come to, or why they are not.
  func tally(of groups: GroupSyntax) throws -> Result<GroupTally, NotIncremental> {
    do {
      let columns = try groups.columns.map { column -> AggregateSyntax? in
        if case .value(let expression) = column { try syntax(expression, groups) } else { nil }
      }
      let having = try groups.having.map { try syntax("\($0.parenthesized) IS TRUE", groups) }
      var all = columns.compactMap(\.self)
      if let having { all.append(having) }
      // A row tells that its group is there.
      if all.isEmpty { all.append(try syntax("count(*)", groups)) }
      let rows = Self.rows(of: all, groupedBy: groups.terms)
      let queries = try rows.map { try query($0).get() }
      func value(_ syntax: AggregateSyntax) throws -> GroupValue {
        let plan = try plan(
          syntax, rows, queries.map { .success($0) }, groupedBy: groups.terms
        ).get()
        return GroupValue(
          plan: plan,
          rows: plan.aggregates.compactMap { aggregate in
            queries.firstIndex { $0.definition == aggregate.rows }
          })
      }
      return .success(
        GroupTally(
          rows: queries.map(\.definition), tables: queries.compactMap(\.plan?.table),
          termCount: groups.terms.count, keyColumns: groups.keyColumns,
          columns: try zip(groups.columns, columns).map { column, syntax in
            switch (column, syntax) {
            case (.value, let syntax?): .value(try value(syntax))
            case (.term(let term), _): .term(term)
            case (.running, _): .running
            case (.value, nil): throw NotIncremental(reason: "it aggregates nothing")
            }
          }, having: try having.map(value)))
    } catch let refusal as NotIncremental {
      return .failure(refusal)
    }
  }

  private func syntax(
    _ expression: String, _ groups: GroupSyntax
  ) throws(NotIncremental) -> AggregateSyntax {
    try AggregateSyntax("SELECT \(expression)\n\(groups.from)", functions)
  }

  /// How aggregates of rows that refer to others are kept, or why they are not.
  func tallies(of owned: OwnedSyntax) throws -> Result<OwnedTallies, NotIncremental> {
    do {
      let parts = try owned.parts.map { part in
        OwnedTallies.Part(parameters: part.parameters, tally: try tally(of: part.groups).get())
      }
      return .success(OwnedTallies(records: owned.records, key: owned.key, parts: parts))
    } catch let refusal as NotIncremental {
      return .failure(refusal)
    }
  }
}
