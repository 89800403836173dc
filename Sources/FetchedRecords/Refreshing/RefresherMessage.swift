package import QueryAnalysis

/// How a query was brought up to date.
package enum RefreshKind: String, Sendable, CaseIterable {
  /// Row by row.
  case incremental
  /// It ran again.
  case refetch
}

/// What an operator may want to know of a refresher.
package enum RefresherMessage: Sendable {
  /// A table or view that cannot be a query.
  case leftOut(QueryProblems)
  /// The database was opened.
  case opened(path: String, isWAL: Bool)
  /// The file at the path is another one now.
  case replaced
  /// The file is gone.
  case removed
  /// A refresh failed as a whole; it is tried again.
  case failed(FetchFailure)
  /// The cache of a query could not be written, and maybe others neither.
  case cacheNotWritten(path: String, reason: String)
  /// It could be written.
  case cacheWrittenAgain
  /// Refreshes succeed again.
  case recovered
  /// One query was brought up to date, for the metrics: told inside the transaction.
  case refreshed(query: String, RefreshKind, Duration)
  /// A query cannot be brought up to date: told once, whoever asks for it meanwhile. `sql` is what ran last.
  case queryFails(String, sql: String, FetchFailure)
  /// The same of one that somebody explores by, who is told.
  case explorationFails(String, FetchFailure)
  /// It can again.
  case queryRecovered(String)
}
