import ChangeCapture
import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// One random query over one random schema, kept up to date in two ways, and held against the plain
/// SELECT after each transaction.
struct SelectTrial {
  var schema: [String]
  var select: RandomSelect
  var transactions: [[String]]
  var arguments = Self.arguments

  struct Outcome {
    var mode = Tracking.Mode.refetch
    var reason = ""
    /// Whether it is kept up to date by the keys of tables WITHOUT ROWID.
    var isKeyed = false
    /// Whether its records look at what is one value for all of them.
    var looksAtValues = false
    /// How often its records were made of what many rows come to; nil: they never are.
    var talliedTimes: Int?
    /// What is kept in memory for want of an index, in a word; nil: nothing is.
    var kept: String?
    var statistics = RefreshStatistics()
    /// What was wrong, and behind which transaction.
    var failure: (text: String, transaction: Int)?
  }

  static let arguments: QueryArguments = ["p": .integer(2)]

  /// nil: SQLite, or the analysis, refuses the query.
  func run() throws -> Outcome? {
    let definition = QueryDefinition(
      name: "q", form: .sql(select.sql),
      parameters: [("p", QueryParameter.ValueType.integer), ("q", .text)].filter {
        select.sql.contains(":\($0.0)")
      }.map { QueryParameter(name: $0.0, type: $0.1) })
    // What is followed where it takes long is followed here, and not there.
    var (early, late) = (RefresherLimits(), RefresherLimits())
    (early.dearStatement, late.dearStatement) = (.zero, .seconds(60))
    (early.dearGroup, late.dearGroup) = (.zero, .seconds(60))
    let fixture: Fixture
    do {
      fixture = try Fixture(
        schema: schema.joined(separator: ";\n"), queries: .definitions([definition]), limits: early)
    } catch is RefusedQueries {
      return nil
    }
    let query = try #require(fixture.refresher.catalog["q"]).analysis.get()
    let followed = try fixture.open("q", arguments: arguments)
    let plain = try Refresher(
      path: fixture.path, queries: .definitions([definition]), limits: late,
      makeFinder: { CommitFinder() }
    ) { _ in }
    let refetched = try plain.watch("q", arguments: arguments)
    var shown = PlainResults(followed.snapshot.results)
    var outcome = Outcome(mode: query.tracking.mode, reason: query.tracking.reason)
    outcome.isKeyed = query.plan?.isKeyed == true
    outcome.looksAtValues = query.plan?.values.isEmpty == false
    outcome.kept = query.plan?.kept
    if query.plan?.tallied != nil { outcome.talliedTimes = 0 }
    for (number, transaction) in transactions.enumerated() {
      try fixture.writer.writeWithoutTransaction { db in
        try db.inTransaction {
          for statement in transaction { try? db.execute(sql: statement) }
          return .commit
        }
      }
      fixture.refresh()
      if let text = try staleAnalysis(definition, fixture) {
        outcome.failure = (text, number)
        break
      }
      let isKnown = fixture.refresher.queue.sync { followed.controller.areGroupsKnown == true }
      if isKnown { outcome.talliedTimes? += 1 }
      plain.refresh()
      plain.settle()
      for event in followed.takeEvents() {
        switch event {
        case .changed(let changes, _, _): shown = try shown.applying(changes)
        // Under another schema a record may be known by something else.
        case .reset(let snapshot): shown = PlainResults(snapshot.results)
        default: break
        }
      }
      let mode = followed.snapshot.query.tracking.mode
      if let text = try difference(shown, followed, refetched, mode, fixture) {
        outcome.failure = (text, number)
        break
      }
    }
    outcome.statistics = fixture.refresher.statistics
    return outcome
  }

  /// What is known of the query though it is another under the present schema.
  private func staleAnalysis(_ definition: QueryDefinition, _ fixture: Fixture) throws -> String? {
    guard transactions.joined().contains(where: \.definesSomething) else { return nil }
    let refresher = fixture.refresher
    let known = try? refresher.catalog["q"]?.analysis.get()
    let again = QueryDefinition(
      name: "again", form: definition.form, parameters: definition.parameters)
    try? refresher.explore(again)
    let present = try? refresher.catalog["again"]?.analysis.get()
    refresher.endExploring("again")
    // How it is tracked also depends on how many rows there are, and so which statement is run: SQLite reads no
    // table that a LEFT JOIN adds nothing of to DISTINCT rows.
    let isSameStatement = known?.tracking.mode == present?.tracking.mode
    let (was, now) = (
      outline(of: known, withTables: isSameStatement),
      outline(of: present, withTables: isSameStatement)
    )
    return was == now ? nil : "known: \(was)\nis: \(now)"
  }

  private func outline(of query: Query?, withTables: Bool) -> String {
    guard let query else { return "nothing" }
    let tables = withTables ? query.dependencies.map(\.table) : []
    return "\(query.layout.columns) of \(tables)"
  }

  private func difference(
    _ shown: PlainResults, _ followed: Watched, _ refetched: Watched, _ mode: Tracking.Mode,
    _ fixture: Fixture
  ) throws -> String? {
    let failures = [followed, refetched].map { $0.controller.failure?.detail }
    let (followed, refetched) = (followed.snapshot.results.shown, refetched.snapshot.results.shown)
    if shown.shown != followed { return "the changes make \(shown.shown) of it, not \(followed)" }
    if followed != refetched {
      return "row by row: \(followed)\nrefetched: \(refetched)\nfailures: \(failures)"
    }
    // LIMIT may cut between equal rows.
    if select.limit != nil, !select.ordersAll { return nil }
    // Only row by row equal rows of a window come in a certain order.
    if mode == .refetch, select.sql != select.certainSQL { return nil }
    let rows = try fixture.examine { db in
      let statement = try db.cachedStatement(sql: select.certainSQL)
      statement.bind(arguments)
      var rows: [String] = []
      while try statement.step(in: db) {
        rows.append("\((0..<Int32(statement.columnCount)).map { statement.value(at: $0).text })")
      }
      return rows.sorted()
    }
    let records = followed.flatMap(\.records).map { "\($0.map(\.text))" }.sorted()
    return rows == records ? nil : "shown: \(records)\nSELECT: \(rows)"
  }

  // MARK: - Shrinking

  /// The smallest trial that fails still, in words.
  func shrunkReport(_ outcome: Outcome) throws -> String {
    let shrunk = shrunk()
    let text = try shrunk.run()?.failure?.text ?? outcome.failure?.text ?? ""
    return """
      \(shrunk.schema.joined(separator: ";\n"))
      \(shrunk.select.sql)
      \(shrunk.transactions.map { $0.joined(separator: "; ") }.joined(separator: "\n"))
      \(text.replacing("\0", with: "␀"))
      \(outcome.mode): \(outcome.reason)
      """
  }

  /// The smallest trial that fails still.
  func shrunk() -> SelectTrial {
    var best = self
    if let failure = best.failure() { best.transactions = Array(transactions[...failure]) }
    while let smaller = best.smaller.first(where: { $0.failure() != nil }) { best = smaller }
    return best
  }

  private func failure() -> Int? { (try? run())??.failure?.transaction }

  private var smaller: [SelectTrial] {
    var all: [SelectTrial] = []
    func add(_ change: (inout SelectTrial) -> Void) {
      var copy = self
      change(&copy)
      all.append(copy)
    }
    for index in transactions.indices { add { $0.transactions.remove(at: index) } }
    for select in select.simpler { add { $0.select = select } }
    for index in transactions.indices where transactions[index].count > 1 {
      for statement in transactions[index].indices {
        add { $0.transactions[index].remove(at: statement) }
      }
    }
    for index in schema.indices { add { $0.schema.remove(at: index) } }
    return all
  }
}

extension String {
  /// Whether it changes the schema, or what the planner knows of it.
  fileprivate var definesSomething: Bool {
    ["CREATE", "DROP", "ALTER", "ANALYZE"].contains { hasPrefix($0) }
  }
}

extension IncrementalPlan {
  fileprivate var kept: String? {
    if !keptRows.isEmpty { return members == nil ? "rows of owners" : "rows of owners and groups" }
    if members != nil { return "rows of groups" }
    return contributions.contains { $0.link != nil } ? "values of owners" : nil
  }

  fileprivate var isKeyed: Bool {
    switch owner {
    case .keyedRow: return true
    case .rowOfArm(_, let arms), .values(_, let arms):
      if arms.contains(where: { $0 != nil }) { return true }
    case .row, .group: break
    }
    return contributions.contains { $0.keys.contains { $0 != nil } }
  }
}
