import GRDB
import Locks
import QueryAnalysis

// Other queries in the place of those there are, while their results live.
extension Refresher {
  /// Puts other queries in the place of those there are, all of them or none.
  ///
  /// What is live of a query that did not change is not touched. Of one that did, it goes on with the
  /// difference, or with a snapshot where the records have another layout; where its arguments would
  /// mean something else, it ends, and so does what is live of a query that is gone.
  ///
  /// Analyses only what changed: some milliseconds each, in one turn.
  ///
  /// - Parameter extent: where the definitions come from.
  /// - Returns: the names of the queries of which what was live has ended.
  /// - Throws: ``RefusedQueries`` where definitions do not fit the schema; ``FetchFailure`` where
  ///   the database cannot be read now.
  package func replaceQueries(by extent: QueryCatalog.Extent) throws -> Set<String> {
    try access.sync {
      try answer { transaction in
        while let name = catalog.nextOutdated {
          try catalog.bringUpToDate(name, in: transaction.db)
        }
        let old = catalog.all
        let known = Dictionary(
          old.map { ($0.definition, $0) }, uniquingKeysWith: { first, _ in first })
        let new = try QueryCatalog.analyzed(extent, in: transaction.db) { known[$0] }
        if case .definitions = extent, !new.refused.isEmpty {
          throw FetchFailure(any: RefusedQueries(queries: new.refused))
        }
        catalog.replace(with: new)
        var (changed, ended): (Set<String>, Set<String>) = ([], [])
        for entry in old where new[entry.definition.name]?.definition != entry.definition {
          let name = entry.definition.name
          let goesOn = new[name]?.definition.takesArguments(of: entry.definition) == true
          if goesOn { changed.insert(name) } else { ended.insert(name) }
        }
        try change(changed, ended, in: transaction.db)
        return ended
      }.unwrapped()
    }
  }

  private func change(
    _ changed: Set<String>, _ ended: Set<String>, in db: Database
  ) throws {
    failing.withLock { failing in
      for name in changed.union(ended) { failing.remove(name) }
    }
    let named = live.all.filter { $0.listener is NamedQueryListener }
    for result in named where ended.contains(result.queryName) {
      if result.opening == nil {
        drop(result)
      } else {
        fail(result, with: .replaced, answering: [])
      }
    }
    let rebound = named.filter { changed.contains($0.queryName) }
    for result in rebound { leaveFollowedRows(of: result) }
    live.rebind(rebound, in: db)
    for result in rebound { refetch(result, because: "configuration") }
    try followTables(in: db)
  }
}

extension QueryDefinition {
  /// Whether arguments of an earlier definition mean the same here.
  fileprivate func takesArguments(of old: QueryDefinition) -> Bool {
    parameters == old.parameters && orders.map(\.name) == old.orders.map(\.name)
      && isPrivate == old.isPrivate
  }
}

extension FetchFailure {
  /// Whoever asked meant a query that is another one now.
  package static let replaced = FetchFailure(
    kind: .busy, detail: "the configuration was changed in this moment: ask again")
}

extension Result where Failure == FetchFailure {
  /// What there is; where there is none because of the definitions, those that were refused.
  fileprivate func unwrapped() throws -> Success {
    do {
      return try get()
    } catch {
      throw error.cause as? RefusedQueries ?? error
    }
  }
}
