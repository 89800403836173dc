package import OrderedResults

/// How a query is run for the groups that a SELECT within it makes, where it shows nothing but what it makes of these.
///
/// Each of its records may look at all groups, as those do that have a place among all, or an average of those before.
/// So the groups are a query like any other, which is kept up to date group by group, and what is made of them is worked
/// out of their values:
/// `SELECT day, n, avg(n) OVER (ORDER BY day ROWS 6 PRECEDING) FROM (SELECT day, count(*) AS n FROM visit GROUP BY day)`.
package struct InnerGroups: Sendable, Equatable {
  /// The SELECT that makes groups.
  package let groups: QueryDefinition
  /// The query up to that SELECT, and from its end on.
  let before: String
  let after: String
  let columns: [Column]
  /// Whether it has to be certain what the values come to in whatever order they are added.
  let areToAddExactly: Bool

  /// A column of the groups.
  struct Column: Sendable, Equatable {
    let name: String
    /// As what its values are compared; nil: as what they are.
    let affinity: ColumnAffinity?
  }

  /// For more groups than this the query is as well run again.
  package static let most = 4096
  /// What SQLite allows where it is not told otherwise: https://www.sqlite.org/limits.html#max_variable_number
  private static let mostParameters = 32_766

  /// The query for groups, and the values of its parameters without a name.
  ///
  /// There are few such statements, for SQLite keeps them: one for up to 1, 2, 4, 8 groups, and so on. O(g) for g groups.
  ///
  /// - Parameter groups: the values of each.
  /// - Returns: nil where it has to be run as it is: they are too many, are not compared as what they are, or may come to
  ///   one real or another.
  package func statement(for groups: [[Value]]) -> (sql: String, values: [Value])? {
    var count = 1
    while count < groups.count { count *= 2 }
    let width = columns.count + 1
    guard groups.count <= Self.most, count * width <= Self.mostParameters,
      !areToAddExactly || groups.joined().allSatisfy(\.addsExactly)
    else { return nil }
    var fields: [String] = []
    for (index, column) in columns.enumerated() {
      // The first tells whether there is a group.
      let value = "column\(index + 2)"
      guard let affinity = column.affinity else {
        fields.append("\(value) AS \(column.name.quotedIdentifier)")
        continue
      }
      // CAST leaves these what they are, and has them compared as the column is.
      guard let type = affinity.type, groups.allSatisfy({ affinity.keeps($0[index]) }) else {
        return nil
      }
      fields.append("CAST(\(value) AS \(type)) AS \(column.name.quotedIdentifier)")
    }
    let group = "(\(repeatElement("?", count: width).joined(separator: ", ")))"
    let list = repeatElement(group, count: count).joined(separator: ", ")
    let others = repeatElement(Value.null, count: (count - groups.count) * width)
    return (
      "\(before)SELECT \(fields.joined(separator: ", ")) FROM (VALUES \(list)) WHERE column1\(after)",
      groups.flatMap { [.integer(1)] + $0 } + others
    )
  }
}

extension Value {
  /// Whether sums of such values do not depend on their order: of some thousand of these no bit is lost.
  fileprivate var addsExactly: Bool {
    guard case .real(let real) = self else { return true }
    let units = real * 1024
    return units == units.rounded() && units.magnitude <= 0x1p40
  }
}

extension ColumnAffinity {
  /// A type that has it; nil: none does.
  fileprivate var type: String? {
    switch self {
    case .text: "TEXT"
    case .numeric: "NUMERIC"
    case .integer: "INTEGER"
    case .real: "REAL"
    case .blob: nil
    }
  }

  /// Whether a value is what CAST to the type makes of it.
  fileprivate func keeps(_ value: Value) -> Bool {
    switch (self, value) {
    case (_, .null), (.text, .text), (.integer, .integer), (.real, .real), (.numeric, .integer),
      (.numeric, .real):
      true
    default: false
    }
  }
}
