import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import Locks
import OrderedResults
import QueryAnalysis

/// The SELECTs that clients have typed in: each is a query for a while, live like the declared ones.
///
/// What is explored has a name of its text and of what columns mean, so the same SELECT is the same query for everybody who may
/// explore, and a link to it is good after a restart, when its page asks for it anew.
final class Explorations: Sendable {
  /// What their names begin with; no query of a configuration can have a colon in its name.
  static let prefix = "explore:"
  /// Each may look at every commit, and be as large as a result may be; a person looks at a few.
  static let maximum = 16

  /// One exploration begins at a time.
  static let queue = DispatchQueue(label: "didchange.explore", qos: .userInitiated)

  private let registry: FeedRegistry
  private let refreshes: RefreshCounters
  /// The one that was asked for last at the end.
  private let names = Mutex<[String]>([])

  init(registry: FeedRegistry, refreshes: RefreshCounters) {
    self.registry = registry
    self.refreshes = refreshes
  }

  private var refresher: Refresher { registry.refresher }

  /// Has a SELECT be a query. On ``queue``.
  ///
  /// Where there are ``maximum`` of them, the one goes that was asked for longest ago of those that
  /// nobody streams or reads.
  ///
  /// - Parameters:
  ///   - sql: the statement.
  ///   - types: what its columns mean.
  /// - Returns: the query's name.
  /// - Throws: ``Problem`` 400 where it is no SELECT that fits the schema, with the place; 503 where all
  ///   are in use; `FetchFailure` where the database cannot be read now.
  func explore(_ sql: String, _ types: ColumnTypes) throws -> String {
    dispatchPrecondition(condition: .onQueue(Self.queue))
    let name = name(of: sql, types)
    if use(name) { return name }
    var definition = QueryDefinition(name: name, form: .sql(sql))
    definition.columnTypes = types
    definition.isExplored = true
    do {
      try refresher.explore(definition)
    } catch let refused as QueryProblems {
      throw Problem.badRequest(refused.placed(in: sql))
    } catch let failure as FetchFailure {
      throw Problem(failure)
    }
    do {
      try makeRoom()
    } catch {
      refresher.endExploring(name)
      throw error
    }
    names.withLock { $0.append(name) }
    return name
  }

  /// A configuration that is read again may say otherwise what columns mean: that is another query.
  private func name(of sql: String, _ types: ColumnTypes) -> String {
    let declared = types.declared.sorted { $0.key < $1.key }
    var digest = refresher.versionKey.digest(of: sql)
    digest.append(refresher.versionKey.digest(of: "\(types.areInferred) \(declared)"))
    return Self.prefix + digest.text
  }

  /// Notes that somebody asks for one.
  ///
  /// - Returns: whether there is one of this name.
  @discardableResult func use(_ name: String) -> Bool {
    names.withLock { names in
      guard let index = names.firstIndex(of: name) else { return false }
      names.append(names.remove(at: index))
      return true
    }
  }

  private func makeRoom() throws(Problem) {
    let present = names.withLock(\.self)
    guard present.count >= Self.maximum else { return }
    guard let idle = present.first(where: { registry.endIdle(of: $0) }) else {
      throw Problem(
        .serviceUnavailable,
        "\(Self.maximum) explored queries are streamed at this moment, which is all there may be: "
          + "close one of them, or ask again later", fields: [.retryAfter: "10"])
    }
    names.withLock { names in names.removeAll { $0 == idle } }
    refresher.endExploring(idle)
    refreshes.forget(idle)
    // Whoever came for it in this moment asks again.
    registry.end { $0 == idle }
  }
}
