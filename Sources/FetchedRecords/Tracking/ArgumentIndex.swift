import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

/// Finds the controllers whose result a row may be in now, or was in before it changed, by the argument
/// that a value of the row must equal.
struct ArgumentIndex {
  /// For more changed rows than this, each controller is rather asked.
  static let maximumRows = 512
  /// The rows of a larger result are not entered: its own index knows them.
  private static let mostRows = 8192

  typealias Members = [ObjectIdentifier: LiveResult]

  private let equality: ArgumentEquality
  /// The position of the rowid among the columns of a record; nil: rows of other tables decide as
  /// well what a member holds, and each has to be asked.
  private let rowIDColumn: Int?
  private var numbers: [RoutingKey: HeldRows.Number] = [:]
  /// By the numbers of arguments.
  private var routed: [Members] = []
  /// Numbers of arguments that nobody has any more.
  private var free: [HeldRows.Number] = []
  /// Those whose argument says too little.
  private var unrouted: Members = [:]
  /// Those whose rows are not entered, or may be others.
  private var strangers: Members = [:]
  private var held = HeldRows()

  init(_ equality: ArgumentEquality, _ plan: IncrementalPlan) {
    self.equality = equality
    rowIDColumn =
      if case .row(let column) = plan.owner, plan.leads.allSatisfy(\.isOwner) {
        column
      } else {
        nil
      }
  }

  mutating func add(_ live: LiveResult) {
    let id = ObjectIdentifier(live)
    strangers[id] = live
    guard let key = key(of: live) else {
      unrouted[id] = live
      return
    }
    let number = numbers[key] ?? makeNumber()
    numbers[key] = number
    routed[Int(number)][id] = live
  }

  private mutating func makeNumber() -> HeldRows.Number {
    if let number = free.popLast() { return number }
    routed.append([:])
    return HeldRows.Number(routed.count - 1)
  }

  mutating func remove(_ live: LiveResult) {
    let id = ObjectIdentifier(live)
    leave(live)
    strangers[id] = nil
    guard let key = key(of: live) else {
      unrouted[id] = nil
      return
    }
    guard let number = numbers[key] else { return }
    routed[Int(number)][id] = nil
    guard routed[Int(number)].isEmpty else { return }
    numbers[key] = nil
    free.append(number)
  }

  private func key(of live: LiveResult) -> RoutingKey? {
    RoutingKey(live.arguments[equality.parameter] ?? .null)
  }

  private func number(of live: LiveResult) -> HeldRows.Number? {
    key(of: live).flatMap { numbers[$0] }
  }

  // MARK: - Rows that changed

  /// Those that may have held one of some rows before they changed; nil: each has to be asked.
  ///
  /// O(k + s), k rows and s members that were not looked at since they were fetched, and O(r) for
  /// their r rows. Who held the rows is forgotten: ``note(_:_:)`` must follow for those that hold
  /// them still.
  mutating func holders(of rowIDs: [Int64]) -> Members? {
    guard let rowIDColumn else { return nil }
    for live in strangers.values { enter(live, rowIDColumn) }
    var found = strangers.merging(unrouted) { $1 }
    for rowID in rowIDs {
      switch held.take(rowID) {
      case nil: break
      case HeldRows.several?: return nil
      case let number?: found.merge(routed[Int(number)]) { $1 }
      }
    }
    return found
  }

  /// Notes which of some rows a member holds after it was brought up to date.
  mutating func note(_ live: LiveResult, _ rowIDs: [Int64]) {
    guard rowIDColumn != nil, strangers[ObjectIdentifier(live)] == nil,
      let number = number(of: live)
    else { return }
    // Without an index it was fetched anew.
    guard let index = live.index, !live.isBehind, live.failure == nil else { return leave(live) }
    held.enter(rowIDs.lazy.filter(index.contains), under: number)
  }

  /// What a member holds may be something else now.
  mutating func leave(_ live: LiveResult) {
    guard strangers.updateValue(live, forKey: ObjectIdentifier(live)) == nil else { return }
    held.noteLeft(live.snapshot.results.count)
    if held.isMostlyLeft { enterAnew() }
  }

  /// Forgets the rows of those that are gone, and with them all others for a while.
  private mutating func enterAnew() {
    held = HeldRows()
    for members in routed { strangers.merge(members) { $1 } }
  }

  private mutating func enter(_ live: LiveResult, _ column: Int) {
    let results = live.snapshot.results
    guard !live.isBehind, live.failure == nil, results.count <= Self.mostRows,
      let number = number(of: live)
    else { return }
    strangers[ObjectIdentifier(live)] = nil
    let records = results.records(in: 0..<results.count)
    held.enter(records.lazy.map { $0.rowID(at: column) }, under: number)
  }

  /// For each controller the rows that its result may have now, in their order.
  ///
  /// O(k log n) for k rows of a table of n, and for the controllers found.
  func members(for rowIDs: [Int64], in db: Database) throws -> [ObjectIdentifier: [Int64]] {
    var result: [ObjectIdentifier: [Int64]] = [:]
    let statement = try db.cachedStatement(sql: equality.sql)
    defer { sqlite3_reset(statement.sqliteStatement) }
    for rowID in rowIDs {
      sqlite3_reset(statement.sqliteStatement)
      sqlite3_bind_int64(statement.sqliteStatement, 1, rowID)
      guard try statement.step(in: db) else { continue }
      for id in unrouted.keys { result[id, default: []].append(rowID) }
      if let key = RoutingKey(statement.value(at: 0)) {
        guard let number = numbers[key] else { continue }
        for id in routed[Int(number)].keys { result[id, default: []].append(rowID) }
      } else {
        for member in routed.joined() { result[member.key, default: []].append(rowID) }
      }
    }
    return result
  }
}
