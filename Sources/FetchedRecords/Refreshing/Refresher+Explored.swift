import Locks
package import QueryAnalysis

// Queries that nobody declares: somebody explores the database by them for a while.
extension Refresher {
  /// Adds a query beside those that are declared, or takes that of its name which is there.
  ///
  /// Nothing is fetched. It takes a turn, as long as SQLite needs to prepare the statement and its
  /// analysis to look at it: some milliseconds.
  ///
  /// - Parameter definition: has a name that no declared query can have.
  /// - Throws: `QueryProblems` where it does not fit the schema; ``FetchFailure`` where the database
  ///   cannot be read now.
  package func explore(_ definition: QueryDefinition) throws {
    let entry = try access.sync {
      try answer { transaction in
        try catalog.bringUpToDate(definition.name, in: transaction.db)
        let entry =
          try catalog[definition.name] ?? QueryCatalog.entry(definition, in: transaction.db)
        if case .success = entry.inEachOrder { catalog.explore(entry) }
        return entry
      }.get()
    }
    _ = try entry.inEachOrder.get()
  }

  /// Takes such a query out again, of which nothing is live any more.
  package func endExploring(_ name: String) {
    access.sync {
      catalog.endExploring(name)
      pageDurations[name] = nil
      failing.withLock { $0.remove(name) }
      count { $0.queries[name] = nil }
    }
  }
}
