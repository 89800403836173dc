/// How much work it may take to find out how one query can be maintained row by row.
///
/// Each source of its SELECTs is resolved wherever it is named, and for each of them statements are
/// prepared, on the queue that follows commits. A query that names few may resolve many: a CTE of a CTE
/// stands for all that it is made of.
final class AnalysisBudget {
  /// Members of FROM, through views, CTEs and subqueries: more than people join.
  private static let mostSources = 64
  /// The same where somebody explores: in the worst case 50 ms, as it grows with their square.
  private static let mostSourcesExplored = 20

  private var sources = 0
  private let most: Int

  /// - Parameters:
  ///   - definition: whose analysis it is for.
  ///   - statements: how many of its statements.
  init(_ definition: QueryDefinition, statements: Int = 1) {
    most = statements * (definition.isExplored ? Self.mostSourcesExplored : Self.mostSources)
  }

  /// Whether the query may be analysed once more, of so many times in all.
  func takesAnother(of count: Int) -> Bool { sources <= most / count * (count - 1) }

  /// Takes one source.
  ///
  /// - Throws: ``NotIncremental`` where there are too many.
  func takeSource() throws(NotIncremental) {
    sources += 1
    guard sources > most else { return }
    throw NotIncremental(
      reason: "it is too large to be analysed: with its views, CTEs and subqueries written out, it "
        + "reads more than \(most) tables")
  }
}
