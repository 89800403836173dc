import GRDB

/// Which rows of a table a query is about: of each group of them, those that have the greatest, or the least, value.
///
///     SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room)
///
/// The records of one group are found without looking at all of its rows, where an index has the greatest value:
///
///     SELECT * FROM message WHERE id = (SELECT max(id) FROM message WHERE room IS ?)
///
/// or, where it is no key, and rows of another group may have it,
///
///     SELECT * FROM message WHERE room IS ? AND at = (SELECT max(at) FROM message WHERE room IS ?)
///
/// and a changed row leads to the group that it is in.
struct GroupExtreme {
  /// The query without the condition.
  let rest: SelectSyntax
  /// The table, and the name by which the query knows it.
  let table: String
  let source: String
  /// The columns by which its rows are grouped.
  let groupBy: [String]
  let choice: Choice
  /// Of which column the value is.
  let column: String
  /// Which rows are in a group.
  let predicate: String?
  /// Whether the value alone tells the row, and with it the group.
  let isKey: Bool
  /// What a window of the query is to be, which leaves open what comes first; nil: none does.
  let completion: Completion?
  /// What has to hold for the first row to be the one that the query shows; nil: it is.
  let ties: IndexedTies?
  /// Whether all rows of a group are looked at for the value: SQLite would go through the whole table to the first one of
  /// the group rather than to an index that has only the group.
  var looksAtGroup = false
  /// Whether a record is what the query shows of a group, and not a row of it: the group tells it apart.
  private(set) var showsGroups = false

  /// The same of a query whose records are groups, each of which shows the one row.
  var showingGroups: GroupExtreme {
    var copy = self
    copy.showsGroups = true
    return copy
  }

  /// A window with a key at the end of its ORDER BY.
  struct Completion {
    /// As it was written.
    let window: String
    let completed: String
    /// The key.
    let column: String

    /// The query with it; nil: it is not certain which window that is.
    func completing(_ sql: String) -> String? {
      guard let place = sql.firstRange(of: window), !sql[place.upperBound...].contains(window)
      else { return nil }
      return sql[..<place.lowerBound] + completed + sql[place.upperBound...]
    }
  }

  enum Choice {
    /// `max` or `min`
    case aggregate(String)
    /// The value of the first row of an order, whose terms name the rows by ``source``.
    case first([String])
  }

  /// - Parameter condition: on rows of the table, by the name of ``source``, that those of one group fulfil. It is written
  ///   twice where the value is no key, and so are its parameters.
  /// - Returns: a condition that their records fulfil, and no others.
  func condition(ofGroup condition: String) -> String {
    var (value, order) = (qualified(column), "")
    switch choice {
    // https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_
    case .aggregate(let function): value = "\(function)(\(looksAtGroup ? "+" : "")\(value))"
    case .first:
      let terms = looksAtGroup ? self.order.map { "+\($0)" } : self.order
      order = "\nORDER BY \(terms.joined(separator: ", ")) LIMIT 1"
    }
    let isFound = "\(qualified(column)) = (\(rows(value, of: condition))\(order))"
    return isKey ? isFound : "\(condition) AND \(isFound)"
  }

  /// What is read of a group, for a person.
  var shown: String {
    switch choice {
    case .aggregate(let function):
      "of which the rows with the \(function.lowercased() == "max" ? "greatest" : "least") \(column)"
    case .first: "of which the first rows"
    }
  }

  /// The rows of a group, those first that are looked for.
  func ordered(inGroup condition: String) -> String {
    // Those with one value are few.
    let order = ties == nil ? order[...] : order.dropLast()
    return rows(qualified(column), of: condition) + "\nORDER BY \(order.joined(separator: ", "))"
  }

  /// The columns by which they are looked for.
  var orderedColumns: [String] {
    order.compactMap { SQLTokens.tokens(of: OrderTerm($0).expression).columnName?.name }
  }

  private var order: [String] {
    switch choice {
    case .aggregate(let function):
      [qualified(column) + (function.lowercased() == "max" ? " DESC" : "")]
    case .first(let terms): terms
    }
  }

  /// Within, the name of ``source`` is that of the rows which are compared.
  private func rows(_ expression: String, of condition: String) -> String {
    DeclaredParts.select(
      [expression], from: "main.\(table.quotedIdentifier) AS \(source.quotedIdentifier)",
      conditions: [predicate?.parenthesized, condition].compactMap(\.self), groupBy: [],
      having: nil)
  }

  /// A column of ``source``.
  func qualified(_ column: String) -> String {
    "\(source.quotedIdentifier).\(column.quotedIdentifier)"
  }
}

// MARK: - Looking for one

extension GroupExtreme {
  /// - Returns: nil where there is none, or more than one.
  init?(in syntax: SelectSyntax, _ resolver: SourceResolver) {
    guard syntax.joinsByConditions, syntax.having == nil, !syntax.isDistinct else { return nil }
    guard syntax.groupBy.isEmpty else {
      guard let own = Search(syntax, resolver).extremeOfOwnGroups else { return nil }
      self = own
      return
    }
    let found = Search(syntax, resolver).all
    guard found.count == 1 else { return nil }
    self = found[0]
  }
}
