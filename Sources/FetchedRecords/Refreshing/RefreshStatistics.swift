import Synchronization

/// What a refresher has done since it began; readable from any thread.
package struct RefreshStatistics: Sendable {
  /// Transactions in which at least one commit was found; several commits may be joined in one.
  package internal(set) var refreshes = 0
  /// Queries that were brought up to date row by row.
  package internal(set) var maintained = 0
  /// Queries that ran again, and the rows that they returned.
  package internal(set) var refetches = 0
  package internal(set) var rowsFetched = 0
  /// Queries that could not be brought up to date.
  package internal(set) var failures = 0
  /// Time in refreshes, in all.
  package internal(set) var duration = Duration.zero
}
