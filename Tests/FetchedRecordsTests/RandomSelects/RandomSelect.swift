/// A SELECT over a ``RandomSchema``, in the parts that a shrinker leaves out.
struct RandomSelect {
  /// In a word, for the tally.
  var shape = "rows"
  /// What stands before SELECT.
  var prefix = ""
  var commonTables: [String] = []
  var isDistinct = false
  var fields: [String]
  /// The first source, then each with how it is joined.
  var sources: [String]
  var conditions: [String] = []
  var groupBy: String?
  var having: String?
  var windows: String?
  /// The SELECTs that are joined to this one, each behind UNION ALL or UNION.
  var others: [String] = []
  var order: [String] = []
  var limit: String?
  /// Whether no two of its rows are equal in its order.
  var ordersAll = false

  /// A key behind ORDER BY in a window that is not written, and by which its equal rows come nevertheless.
  static func unwritten(_ key: [String]) -> String { "␅, \(key.joined(separator: ", "))␆" }

  var sql: String { markedSQL.replacing(#/␅.*?␆/#, with: "") }

  /// The same with the keys that are not written: it has one result, whatever SQLite's plan.
  var certainSQL: String { markedSQL.replacing(#/[␅␆]/#, with: "") }

  /// The same with marks around these keys.
  var markedSQL: String {
    var sql = prefix
    if !commonTables.isEmpty { sql += "WITH \(commonTables.joined(separator: ", ")) " }
    sql +=
      "SELECT \(isDistinct ? "DISTINCT " : "")\(fields.joined(separator: ", ")) FROM \(sources.joined(separator: " "))"
    if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
    if let groupBy { sql += " GROUP BY \(groupBy)" }
    if let having { sql += " HAVING \(having)" }
    if let windows { sql += " WINDOW \(windows)" }
    for other in others { sql += " \(other)" }
    if !order.isEmpty { sql += " ORDER BY " + order.joined(separator: ", ") }
    if let limit { sql += " LIMIT \(limit)" }
    return sql
  }

  /// Whether these columns have values: what a subquery of FROM calls rowid is NULL.
  func has(_ columns: [String]) -> Bool {
    !columns.contains { $0.hasSuffix(".rowid") } || !sources.contains { $0.contains("(SELECT") }
  }

  /// The same with one part less.
  var simpler: [RandomSelect] {
    var all: [RandomSelect] = []
    func add(_ change: (inout RandomSelect) -> Void) {
      var copy = self
      change(&copy)
      all.append(copy)
    }
    for index in commonTables.indices { add { $0.commonTables.remove(at: index) } }
    if isDistinct { add { $0.isDistinct = false } }
    if limit != nil { add { $0.limit = nil } }
    if having != nil { add { $0.having = nil } }
    for index in order.indices {
      add {
        $0.order.remove(at: index)
        $0.ordersAll = false
      }
    }
    for index in conditions.indices { add { $0.conditions.remove(at: index) } }
    for index in others.indices { add { $0.others.remove(at: index) } }
    for index in fields.indices where fields.count > 1 && others.isEmpty {
      add { $0.fields.remove(at: index) }
    }
    for index in sources.indices.dropFirst() { add { $0.sources.remove(at: index) } }
    return all
  }
}
