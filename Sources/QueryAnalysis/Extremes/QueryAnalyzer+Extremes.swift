import GRDB

// Queries that may show a row, or few, of each group.
extension QueryAnalyzer {
  /// The same where it shows a few rows of each group; nil: it does not, or is followed in another way.
  func extremeShape(
    _ candidate: IncrementalCandidate, of sql: String, names: [String]
  ) throws -> IncrementalShape? {
    // What is in vain here leaves the others as much.
    let analyzer = QueryAnalyzer(definition: definition, db: db, budget: AnalysisBudget(definition))
    let resolver = SourceResolver(try RowLocality(db), AnalysisBudget(definition), db)
    let (syntax, sql) = candidate.syntax.namingSource(in: sql) ?? (candidate.syntax, sql)
    guard let extreme = GroupExtreme(in: syntax, resolver),
      let sql = extreme.completion.map({ $0.completing(sql) }) ?? sql,
      let whole = WholeStatement(sql)
    else { return nil }
    if let ties = extreme.ties {
      // Where it is followed as groups, it reads their rows in the order in which it would as it was written.
      guard let groups = try? analyzer.incrementalShape(candidate, names: names),
        ties.areRead(by: groups.sql, in: db)
      else { return nil }
    }
    var candidate = candidate
    (candidate.syntax, candidate.whole, candidate.extreme) = (extreme.rest, whole, extreme)
    return try? analyzer.incrementalShape(candidate, names: names)
  }

  /// The same where a row of each group is all that is needed of a table that is joined; nil: it is another query, or is
  /// followed as groups. `shape` is that of the groups, whose key it keeps.
  func joinedExtremeShape(
    _ candidate: IncrementalCandidate, _ shape: IncrementalShape, of sql: String, names: [String]
  ) throws -> IncrementalShape? {
    let analyzer = QueryAnalyzer(definition: definition, db: db, budget: AnalysisBudget(definition))
    let resolver = SourceResolver(try RowLocality(db), AnalysisBudget(definition), db)
    for looksAtGroup in [false, true] {
      guard
        let greatest = GreatestOfJoined(
          candidate.syntax, lookingAtGroup: looksAtGroup, resolver),
        let rewriting = greatest.rewriting, let whole = WholeStatement(sql),
        rewriting.ties.map({ $0.areRead(by: shape.sql, in: db) }) != false
      else { return nil }
      var other = candidate
      (other.syntax, other.whole) = (rewriting.syntax, whole)
      (other.list, other.key) = (shape.list, shape.key)
      guard var found = try? analyzer.incrementalShape(other, names: names),
        found.key == shape.key, found.keyIsUnique == shape.keyIsUnique,
        found.plan.keptRows.isEmpty, found.plan.leads.allSatisfy(\.isFollowed)
      else { continue }
      found.addedKeyNames = shape.addedKeyNames
      if looksAtGroup, let index = greatest.missingIndex {
        found.reason += "; what may help: \(index.sql)"
      }
      return found
    }
    return nil
  }
}
