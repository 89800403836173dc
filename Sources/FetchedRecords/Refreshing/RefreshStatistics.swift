/// What a refresher has done since it began; readable from any thread.
package struct RefreshStatistics: Sendable {
  /// Transactions in which at least one commit was found; several commits may be joined in one.
  package internal(set) var refreshes = 0
  /// Queries that were brought up to date row by row.
  package internal(set) var maintained = 0
  /// Queries that ran again, and the rows that they returned.
  package internal(set) var refetches = 0
  package internal(set) var rowsFetched = 0
  /// Statements alongside that ran again, and those whose values were known from running totals.
  package internal(set) var ranAlongside = 0
  package internal(set) var knownAlongside = 0
  /// Queries that could not be brought up to date.
  package internal(set) var failures = 0
  /// Pieces of work that were done beside the queue that follows commits.
  package internal(set) var background = 0
  /// Pages that were read of results that nobody holds.
  package internal(set) var pages = 0
  /// Readers that are at work on one now.
  package internal(set) var busyReaders = 0
  /// Those that took longer than a statement may.
  package internal(set) var overdue = 0
  /// Those that were ended because nobody wanted their results any more.
  package internal(set) var abandoned = 0
  /// Times that long work was put off for what may be short.
  package internal(set) var putOff = 0
  /// Times that long work had waited in vain for others to leave it the processor.
  package internal(set) var starved = 0
  /// Fetches that a cache spared.
  package internal(set) var cacheHits = 0
  /// Time in refreshes, in all.
  package internal(set) var duration = Duration.zero
  /// By the names of the queries.
  package internal(set) var queries: [String: QueryRefreshes] = [:]
}

/// How the controllers of one query were brought up to date since the beginning.
package struct QueryRefreshes: Sendable, Equatable {
  /// Row by row.
  package internal(set) var maintained = 0
  /// By running the query again.
  package internal(set) var refetches = 0
  /// Times that it could not be done.
  package internal(set) var failures = 0
  /// Why the query ran again, by the words of `TableChanges.Reason` and `DatabaseChanges.Reasons`,
  /// and `notIncremental`, `manyRows`, `manyRecords`, `firstChange`, `manyContributions`, `noMemory`,
  /// `otherValue`, `unknownWindow`, `brokenSections`, `noOutline`, `noSearch`, `failedSearch`, `schema`, `configuration`,
  /// `failure`, `asked`, `resumed`.
  package internal(set) var fallbacks: [String: Int] = [:]

  mutating func count(_ reasons: [String]) {
    refetches += 1
    for reason in reasons { fallbacks[reason, default: 0] += 1 }
  }
}
