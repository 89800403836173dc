import OrderedResults

/// What finds out the order of a result's records: of one SELECT, or of those that UNION joins.
protocol OrderedAnalysis {
  var candidate: IncrementalCandidate { get }
  /// The terms of ORDER BY.
  var orderTerms: [String] { get }
  /// The column of the result that has what a term of ORDER BY is.
  mutating func position(ofOrder term: OrderTerm) throws -> Int
  /// The collation by which SQLite compares a column; `written`: what COLLATE says.
  func collation(ofColumn position: Int, written: String?) throws -> Collation
  /// The same with what it takes to compare text of UTF-16.
  mutating func term(_ term: RecordOrder.Term) throws -> RecordOrder.Term
}

/// The order that a query asks for, and the same as ORDER BY has it.
///
/// The statement's terms are ordinals, so that both look at the very same values.
struct AskedOrder {
  var terms: [RecordOrder.Term] = []
  var sql: [String]
  /// Whether what is added behind it goes down, as its last term does: an index has both, then.
  var isDescending: Bool

  var record: RecordOrder { RecordOrder(terms) }

  /// Adds a column behind all others.
  mutating func append(_ term: RecordOrder.Term) {
    terms.append(term)
    sql.append("\(term.column + 1)\(term.isDescending ? " DESC" : "")")
  }
}

extension OrderedAnalysis {
  mutating func askedOrder() throws -> AskedOrder {
    var terms: [RecordOrder.Term] = []
    var sql = candidate.sectionTerms
    if let section = candidate.leadingSection {
      let collation = try collation(ofColumn: section, written: nil)
      try terms.append(term(.init(column: section, collation: collation)))
      if candidate.sectionNeedsBytes { try terms.append(term(.init(column: section))) }
    }
    for text in orderTerms {
      let term = OrderTerm(text)
      let column = try position(ofOrder: term)
      let collation = try collation(ofColumn: column, written: term.collation)
      try terms.append(
        self.term(
          .init(
            column: column, collation: collation, isDescending: term.isDescending,
            nullsLast: term.nullsLast)))
      sql.append(term.sql(ordinal: column + 1))
    }
    let isDescending =
      terms.count > candidate.sectionTerms.count && terms.last?.isDescending == true
    return AskedOrder(terms: terms, sql: sql, isDescending: isDescending)
  }
}
