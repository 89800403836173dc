import GRDB
import GRDBSQLite
import OrderedResults

/// Finds the controllers whose result a row may be in now, by the argument that a value of the row
/// must equal.
struct ArgumentRouter {
  /// For more changed rows than this, each controller is rather asked.
  static let maximumRows = 512

  private let route: EqualityRoute
  private var routed: [RoutingKey: [ObjectIdentifier: LiveResult]] = [:]
  /// Those whose argument says too little.
  private var unrouted: [ObjectIdentifier: LiveResult] = [:]

  init(_ route: EqualityRoute) { self.route = route }

  mutating func add(_ live: LiveResult) {
    if let key = key(of: live) {
      routed[key, default: [:]][ObjectIdentifier(live)] = live
    } else {
      unrouted[ObjectIdentifier(live)] = live
    }
  }

  mutating func remove(_ live: LiveResult) {
    guard let key = key(of: live) else {
      unrouted[ObjectIdentifier(live)] = nil
      return
    }
    routed[key]?[ObjectIdentifier(live)] = nil
    if routed[key]?.isEmpty == true { routed[key] = nil }
  }

  private func key(of live: LiveResult) -> RoutingKey? {
    RoutingKey(live.arguments[route.parameter] ?? .null)
  }

  /// For each controller the rows that its result may have now, in their order.
  ///
  /// O(k log n) for k rows of a table of n, and for the controllers found.
  func members(for rowIDs: [Int64], in db: Database) throws -> [ObjectIdentifier: [Int64]] {
    var result: [ObjectIdentifier: [Int64]] = [:]
    let statement = try db.cachedStatement(sql: route.sql)
    defer { sqlite3_reset(statement.sqliteStatement) }
    for rowID in rowIDs {
      sqlite3_reset(statement.sqliteStatement)
      sqlite3_bind_int64(statement.sqliteStatement, 1, rowID)
      guard try statement.step(in: db) else { continue }
      for id in unrouted.keys { result[id, default: []].append(rowID) }
      if let key = RoutingKey(statement.value(at: 0)) {
        for id in routed[key, default: [:]].keys { result[id, default: []].append(rowID) }
      } else {
        for member in routed.values.joined() { result[member.key, default: []].append(rowID) }
      }
    }
    return result
  }
}
