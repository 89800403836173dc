import ChangeCapture
import Dispatch
import GRDB
import QueryAnalysis

/// How SQLite goes about a query, in its own words: https://www.sqlite.org/eqp.html
///
/// Asked for by people who look at a query, on a connection of its own: what is kept up to date does
/// not wait for it.
enum QueryPlan {
  static let queue = DispatchQueue(label: "didchange.plan", qos: .utility)

  /// The steps, each indented by two spaces below the one that it is part of; none where the
  /// database cannot be asked just now.
  static func steps(of sql: String, database path: String) -> [String] {
    let configuration = GRDB.Configuration.readOnly(label: "didchange.plan")
    guard let reader = try? DatabaseQueue(path: path, configuration: configuration),
      let rows = try? reader.read({ db in try db.queryPlan(of: sql) })
    else { return [] }
    var depths: [Int: Int] = [:]
    return rows.map { row in
      let depth = depths[row["parent"], default: -1] + 1
      depths[row["id"]] = depth
      return String(repeating: "  ", count: depth) + (row["detail"] as String)
    }
  }
}
