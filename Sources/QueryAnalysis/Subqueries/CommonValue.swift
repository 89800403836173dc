package import OrderedResults

/// What a subquery comes to that looks at nothing around it: one value for all records.
///
/// `WHERE season = (SELECT max(id) FROM season)` is followed as `WHERE season = :value` is. As long as the value is what
/// it was, changed rows are brought in one by one; where it is another one, the query runs again.
package struct CommonValue: Sendable, Equatable {
  /// The parameter that takes the value, without its colon.
  package let parameter: String
  /// The subquery as it was written, in parentheses, and with EXISTS where that stands before it.
  let text: String
  /// The same with the tables of WITH that it reads.
  let subquery: String
  /// The beginning of it, for a person.
  let shown: String
  /// The tables that it reads.
  package let tables: [String]
  /// That of the column whose value it is; nil: it has none, as a parameter has none.
  let affinity: ColumnAffinity?
  /// What a list is of; nil: it is one value.
  package let list: List?
  /// How the value is kept as rows change, of an aggregate of many; nil: it is looked up.
  package internal(set) var plan: AggregatePlan?

  /// What all values of a list are, or NULL, as the column that is looked for there has such values.
  package enum List: Sendable { case numbers, texts }

  /// A list has no more values than these: each statement reads all of them.
  package static let longestList = 1000

  /// Returns the value, or those of a list.
  package var sql: String {
    list == nil ? "SELECT \(subquery)" : String(subquery.dropFirst().dropLast())
  }

  var isExistence: Bool { subquery.first != "(" }

  /// Whether the value is compared in the statements of a plan as it is in the subquery's place. Of a list, whether it is
  /// one.
  ///
  /// A CAST to the type of its column leaves what it is if the column would not have stored something else:
  /// https://www.sqlite.org/lang_expr.html#castexpr
  package func takes(_ value: Value) -> Bool {
    if list != nil { return value != .null }
    return switch (affinity, value) {
    case (nil, _), (_, .null): true
    case (.integer, .integer), (.numeric, .integer), (.integer, .real), (.numeric, .real): true
    case (.real, .real), (.text, .text), (.blob, _): true
    default: false
    }
  }

  /// What stands in the place of the subquery.
  var written: String {
    if list != nil { return "(SELECT value FROM json_each(:\(parameter)))" }
    return switch affinity {
    case nil, .blob: ":\(parameter)"
    case .integer, .numeric: "CAST(:\(parameter) AS NUMERIC)"
    case .real: "CAST(:\(parameter) AS REAL)"
    case .text: "CAST(:\(parameter) AS TEXT)"
    }
  }

  /// How a change of its tables leads to it.
  var leads: [IncrementalPlan.Lead] {
    tables.map {
      IncrementalPlan.Lead(
        table: $0, storage: nil, isOwner: false, searches: [], position: nil, refusal: nil,
        isOfValue: true)
    }
  }
}

extension CommonValue {
  /// What the names of parameters begin with that take such values.
  private static let name = "didchange_value_"

  static func parameter(_ number: Int) -> String { "\(name)\(number)_" }

  /// Whether a text has such a name, in whatever place.
  static func isNamed(in text: String) -> Bool { text.contains(name) }

  /// Whether a token is a parameter that takes such a value, and no argument.
  static func isTaken(by token: SQLToken) -> Bool {
    token.kind == .parameter && token.text.dropFirst().hasPrefix(name)
  }
}

extension [CommonValue] {
  /// A statement of a plan as it was written: SQLite looks up the values itself.
  func restored(in sql: String) -> String {
    reduce(sql) { $0.replacing($1.written, with: $1.subquery) }
  }
}
