// How changed rows lead to rows of UNION's SELECTs.
extension UnionAnalysis {
  func leads() throws -> (
    [IncrementalPlan.Lead], [ContributionStatement], [IncrementalPlan.KeptRows]
  ) {
    var keptRows: [IncrementalPlan.KeptRows] = []
    var leads: [IncrementalPlan.Lead] = []
    var contributions: [ContributionStatement] = []
    for arm in arms {
      let (more, statements, kept) = try arm.analysis.leads(
        owner: arm.owner, ownerColumns: arm.ownerColumns)
      let first = contributions.last?.positions.upperBound ?? 0
      leads += more.map { lead in
        var lead = lead.shifted(contributions: contributions.count, positions: first)
        if lead.isOwner { lead.arm = arm.number }
        return lead
      }
      contributions += statements.map { $0.shifted(by: first) }
      keptRows += kept.map { rows in
        .init(
          parameter: arm.naming(rows.parameter), positions: rows.positions.map { $0 + first })
      }
    }
    return (leads, contributions, keptRows)
  }
}

extension IncrementalPlan.Lead {
  /// The same behind the contributions of other SELECTs.
  fileprivate func shifted(contributions: Int, positions: Int) -> Self {
    Self(
      table: table, storage: storage, isOwner: isOwner,
      searches: searches.map {
        .init(contribution: $0.contribution + contributions, statement: $0.statement)
      }, position: position.map { $0 + positions }, refusal: refusal, remedy: remedy)
  }
}

extension ContributionStatement {
  func shifted(by count: Int) -> Self {
    Self(
      sql: sql, positions: positions.lowerBound + count..<positions.upperBound + count,
      keys: keys, tellsLoss: tellsLoss, link: link?.shifted(by: count))
  }
}
