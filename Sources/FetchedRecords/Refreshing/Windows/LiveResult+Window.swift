import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

// Reading a window that is live by itself.
extension LiveResult {
  /// More records than these are not read within ``shortWork``.
  static let shortWindow = 256

  /// The records of a window, and where they are.
  struct WindowUpdate {
    let results: Results
    let changes: ChangeSet
    let places: WindowPlaces
    /// Whether it is known by the places, and no other records were passed.
    let isPlaced: Bool
  }

  /// Reads the records of the window by their rows, or, where these are not known, by passing those
  /// before it.
  ///
  /// O(w + k log n), w records of the window, k of rows that came into it or may have changed, among
  /// n; O(n) where the places are not known.
  ///
  /// - Parameters:
  ///   - places: where it is now, if that is known.
  ///   - changed: the rows that may have changed since the snapshot, ascending; nil: any.
  ///   - bound: the query.
  ///   - meter: what the records may take.
  ///   - db: in a transaction that sees the commit of `places`.
  /// - Returns: the records, and where they are.
  /// - Throws: `FetchFailure`, `DatabaseError`.
  func window(
    at places: WindowPlaces?, changed: [Int64]?, _ bound: BoundQuery, _ meter: ResultMeter,
    in db: Database
  ) throws -> WindowUpdate {
    let (layout, range) = (bound.query.layout, bound.window ?? 0..<Int.max)
    let old = snapshot.results.layout == layout ? snapshot.results : .empty(layout)
    let known = known(after: changed, layout)
    if let places, let records = try records(at: places, known, bound, meter, in: db) {
      let (results, changes) = try Self.results(of: records, after: old, bound.query)
      return WindowUpdate(results: results, changes: changes, places: places, isPlaced: true)
    }
    let start = ContinuousClock.now
    let (records, total) = try bound.query.records(in: range, bound.arguments, meter, in: db)
    let (results, changes) = try Self.results(of: records, after: old, bound.query)
    durations.fetch = ContinuousClock.now - start
    return WindowUpdate(
      results: results, changes: changes, places: WindowPlaces(total: total), isPlaced: false)
  }

  /// - Returns: nil where the records contradict the places: SQL says what is true of each.
  private func records(
    at places: WindowPlaces, _ known: [Int64: OrderedResults.Record], _ bound: BoundQuery,
    _ meter: ResultMeter, in db: Database
  ) throws -> [OrderedResults.Record]? {
    guard let rowIDs = places.rowIDs, let plan = bound.query.plan else { return nil }
    return try plan.records(
      of: rowIDs, known: known, bound.arguments, bound.query.layout, meter, in: db)
  }

  /// What is shown of rows that are now as they were then.
  private func known(
    after changed: [Int64]?, _ layout: RecordLayout
  ) -> [Int64: OrderedResults.Record] {
    let shown = snapshot.results
    guard let changed, let rowIDs = snapshot.places?.rowIDs, rowIDs.count == shown.count,
      shown.layout == layout
    else { return [:] }
    var known = Dictionary(zip(rowIDs, shown.records(in: 0..<shown.count))) { first, _ in first }
    for rowID in changed { known[rowID] = nil }
    return known
  }

  private static func results(
    of records: [OrderedResults.Record], after old: Results, _ query: Query
  ) throws -> (results: Results, changes: ChangeSet) {
    var builder = ResultsBuilder(comparingWith: old)
    for record in records { builder.append(record) }
    do {
      return try builder.finish()
    } catch {
      throw FetchFailure(brokenSection: error, query: query)
    }
  }
}

extension IncrementalPlan {
  /// The records of these rows, in their order, which is to be that of the plan.
  ///
  /// O(k log n), k rows of a table of n that are not known.
  ///
  /// - Returns: nil where a row has none, or they are in another order.
  func records(
    of rowIDs: [Int64], known: [Int64: OrderedResults.Record] = [:], _ arguments: QueryArguments,
    _ layout: RecordLayout, _ meter: ResultMeter, in db: Database
  ) throws -> [OrderedResults.Record]? {
    guard case .row(let column) = owner else { return nil }
    var meter = meter
    var found = known
    var missing: [Int64] = []
    for rowID in rowIDs {
      if let record = known[rowID] {
        try meter.add(record.byteCount)
      } else {
        missing.append(rowID)
      }
    }
    try records.forEach(missing, arguments: arguments, in: db) { statement in
      try statement.forEachRow(of: layout, in: db) { row in
        try meter.add(row.byteCount)
        let record = row.makeRecord()
        found[record.rowID(at: column)] = record
      }
    }
    let records = rowIDs.compactMap { found[$0] }
    guard records.count == rowIDs.count,
      zip(records, records.dropFirst()).allSatisfy({ order.compare($0, $1) < 0 })
    else { return nil }
    return records
  }
}

extension Query {
  /// The records of a range of offsets, and how many there are in all.
  ///
  /// O(n), n records, of which no others are held.
  fileprivate func records(
    in range: Range<Int>, _ arguments: QueryArguments, _ meter: ResultMeter, in db: Database
  ) throws -> (records: [OrderedResults.Record], total: Int) {
    var meter = meter
    var records: [OrderedResults.Record] = []
    func take(_ row: borrowing RecordEncoder) throws {
      try meter.add(row.byteCount)
      records.append(row.makeRecord())
    }
    if let pages = pagedStatement {
      try pages.walkRows(
        of: layout, from: range.lowerBound, atMost: range.count, arguments, in: db
      ) { row in
        try take(row)
        return true
      }
      return (records, try pages.count(arguments, in: db))
    }
    let statement = try db.cachedStatement(sql: sql)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    var total = 0
    try statement.forEachRow(of: layout, in: db) { row in
      if range.contains(total) { try take(row) }
      total += 1
    }
    return (records, total)
  }
}
