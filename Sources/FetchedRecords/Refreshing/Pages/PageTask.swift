import GRDB
import OrderedResults
import QueryAnalysis

/// The reading of one page, in a read transaction on a known commit.
// Safe to share: handed from the refresher's queue to a reader's thread and back.
final class PageTask: @unchecked Sendable {
  let read: PageRead
  private let query: Query
  private let statement: PagedStatement
  /// Of the state that the transaction sees.
  let version: ResultsVersion
  private let commit: Int
  /// Where the page is, as far as an outline knows it.
  private let places: WindowPlaces?
  /// The number of records, where it is known of this version.
  private let knownCount: Int?
  private(set) var outcome: Result<Found, FetchFailure>?
  private(set) var duration = Duration.zero

  /// What was found; a small result has no page.
  struct Found {
    let count: Int
    var page: ResultsPage?
    /// Bytes of the page's records.
    var bytes = 0
  }

  /// A result of so many records is live at once, as it is fetched in a few milliseconds.
  static let smallResult = 4096

  init(
    _ read: PageRead, _ query: Query, _ statement: PagedStatement, version: ResultsVersion,
    commit: Int, places: WindowPlaces? = nil, knownCount: Int?
  ) {
    self.read = read
    self.query = query
    self.statement = statement
    self.version = version
    self.commit = commit
    self.places = places
    self.knownCount = places?.total ?? knownCount
  }

  var definition: QueryDefinition { query.definition }

  /// Whether nobody knows how long it takes, whatever other pages of the query took.
  var isUnpredictable: Bool { query.letsClientsCallFunctions }

  /// Whether the number of records is known already.
  var isCounted: Bool { knownCount != nil }

  /// The rows that a page passes over to its end, as far as its place is known.
  var rowsPassed: Int {
    // A search for each costs what it does to pass some ten.
    if let rowIDs = places?.rowIDs { return 10 * rowIDs.count }
    let first =
      switch read.request.range.start {
      case .offset(let offset): offset
      case .after(let end): end.offset
      }
    return min(first, knownCount ?? .max) &+ read.request.range.limit
  }

  /// - Returns: false where it would take longer than `time`, or others had to make room; then there is
  ///   no outcome.
  func perform(
    _ statementGuard: StatementGuard, atMost time: Duration, _ meter: ResultMeter, in db: Database
  ) -> Bool {
    let start = ContinuousClock.now
    defer { duration = ContinuousClock.now - start }
    do {
      outcome = .success(
        try statementGuard.run(atMost: time, counting: isCounted || meter.mayWait ? nil : db) {
          try find(meter, in: db)
        })
    } catch StatementGuard.Interruption.time {
      return false
    } catch is ResultMeter.NeedsRoom {
      return false
    } catch StatementGuard.Interruption.wish {
      outcome = .failure(FetchFailure(kind: .abandoned, detail: "nobody waits for the page"))
    } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
      outcome = .failure(.valueTooLong(meter.limits))
    } catch {
      outcome = .failure(FetchFailure(any: error).of(definition))
    }
    return true
  }

  /// The same in the time that a statement is granted.
  func perform(_ statementGuard: StatementGuard, _ meter: ResultMeter, in db: Database) {
    if !perform(statementGuard, atMost: meter.limits.statement, meter, in: db) {
      outcome = .failure(.tooLong(meter.limits))
    }
  }

  func fail(with failure: FetchFailure) { outcome = .failure(failure) }

  private func find(_ meter: ResultMeter, in db: Database) throws -> Found {
    let count = try knownCount ?? statement.count(read.request.arguments, in: db)
    var found = Found(count: count)
    if count <= Self.smallResult { return found }
    let first = min(max(try start(count, in: db), 0), count)
    let records =
      try placedRecords(meter, in: db) ?? passedRecords(from: first, of: count, meter, in: db)
    found.bytes = records.reduce(0) { $0 + $1.byteCount }
    found.page = ResultsPage(
      layout: query.layout, records: records, offset: first, numberOfRecords: count,
      version: version, commit: commit)
    return found
  }

  /// The records by their rows, where these are known.
  private func placedRecords(
    _ meter: ResultMeter, in db: Database
  ) throws -> [OrderedResults.Record]? {
    guard let rowIDs = places?.rowIDs, let plan = query.plan else { return nil }
    return try plan.records(of: rowIDs, read.request.arguments, query.layout, meter, in: db)
  }

  /// The records from an offset on, behind those that are passed.
  private func passedRecords(
    from first: Int, of count: Int, _ meter: ResultMeter, in db: Database
  ) throws -> [OrderedResults.Record] {
    var records: [OrderedResults.Record] = []
    var meter = meter
    // Behind the last record there is nothing for which all of them had to be passed.
    let length = min(read.request.range.limit, count - first)
    if length > 0 {
      try statement.walkRows(
        of: query.layout, from: first, atMost: length, read.request.arguments, in: db
      ) { row in
        try meter.add(row.byteCount)
        records.append(row.makeRecord())
        return true
      }
    }
    return records
  }

  // MARK: - Where a page begins

  /// The offset of the first record.
  ///
  /// Behind the page before: O(1) in the same version. Else its last record is looked for, first
  /// around its old place and then everywhere: O(n) where it has gone far, or has another key.
  private func start(_ count: Int, in db: Database) throws -> Int {
    switch read.request.range.start {
    case .offset(let offset): return offset
    case .after(let end):
      guard end.version != version.description, let key = end.key,
        let matcher = KeyMatcher(key, query.layout)
      else { return end.offset }
      let old = min(max(end.offset - 1, 0), count - 1)
      let near = max(0, old - PageEnd.neighbourhood)
      let width = old - near + PageEnd.neighbourhood + 1
      let found = try offset(of: matcher, from: near, atMost: width, in: db)
      if let found { return found + 1 }
      guard try isThere(key, in: db) else { return end.offset }
      return try offset(of: matcher, from: 0, in: db).map { $0 + 1 } ?? end.offset
    }
  }

  private func offset(
    of matcher: KeyMatcher, from first: Int, atMost limit: Int? = nil, in db: Database
  ) throws -> Int? {
    var offset = first
    var found: Int?
    try statement.walkRows(
      of: query.layout, from: first, atMost: limit, read.request.arguments, in: db
    ) { row in
      if matcher.matches(row) { found = offset }
      offset += 1
      return found == nil
    }
    return found
  }

  /// Whether some record may have the key; where it is a rowid, that is known by one search.
  private func isThere(_ key: [Value], in db: Database) throws -> Bool {
    guard let plan = query.plan, plan.values.isEmpty, case .row(let column) = plan.owner,
      query.layout.key == [column],
      case .integer(let rowID)? = key.first
    else { return true }
    var isThere = false
    try plan.records.forEach([rowID], arguments: read.request.arguments, in: db) { statement in
      isThere = try statement.step(in: db)
    }
    return isThere
  }
}
