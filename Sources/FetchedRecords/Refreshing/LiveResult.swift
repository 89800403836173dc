package import OrderedResults

/// One query with one set of arguments, whose records are kept up to date; all that watch it share
/// it.
///
/// The only place that says what is shown, at which commit, and why not. It is brought up to date by
/// its refresher, on whose queue it is used; what it shows is immutable and may be handed anywhere.
// Safe to share: every mutable field is touched on the refresher's queue only, or by whoever made it
// before that.
package final class LiveResult: @unchecked Sendable {
  package let queryName: String
  package let arguments: QueryArguments
  /// What an earlier life of the process showed last, and how the first snapshot came of it; nil:
  /// nothing is known of one.
  package internal(set) var resumed: (old: ResultsSnapshot, changes: ChangeSet)?
  /// Called on the refresher's queue, after the read transaction is over.
  let onEvent: @Sendable (LiveResultEvent) -> Void

  /// The last good result.
  package private(set) var snapshot: ResultsSnapshot
  /// What went wrong when the result was last brought up to date, if it did.
  package private(set) var failure: FetchFailure?

  /// The whole order, where a window of it is shown.
  var whole: Results?
  /// Made when a change can be maintained, and let go with a refetch.
  var index: OwnerIndex?
  /// Made when a change has to be led to records of other rows.
  var contributions: Contributions?

  init(
    queryName: String, arguments: QueryArguments, snapshot: ResultsSnapshot,
    resumed: (old: ResultsSnapshot, changes: ChangeSet)? = nil,
    onEvent: @escaping @Sendable (LiveResultEvent) -> Void
  ) {
    self.queryName = queryName
    self.arguments = arguments
    self.snapshot = snapshot
    self.resumed = resumed
    self.onEvent = onEvent
  }

  /// Takes a new result; returns whether a failure is over with it.
  func succeed(with snapshot: ResultsSnapshot) -> Bool {
    defer { failure = nil }
    self.snapshot = snapshot
    return failure != nil
  }

  /// Keeps the last good result; returns whether this failure is news.
  func fail(with failure: FetchFailure) -> Bool {
    defer { self.failure = failure }
    return self.failure != failure
  }
}

/// One state of a live result. Immutable: it may be handed anywhere.
package struct ResultsSnapshot: Sendable {
  package let query: Query
  package let results: Results
  package let version: ResultsVersion
  /// The state of the database as the refresher counts them.
  package let commit: Int
  package let alongside: [NamedValue]

  package init(
    query: Query, results: Results, version: ResultsVersion, commit: Int, alongside: [NamedValue]
  ) {
    self.query = query
    self.results = results
    self.version = version
    self.commit = commit
    self.alongside = alongside
  }
}

/// Names one state of one live result: equal versions mean equal states.
package struct ResultsVersion: Sendable, Hashable, CustomStringConvertible {
  /// Changes when the numbers of an earlier life cannot be vouched for.
  package let epoch: String
  /// Grows by one with each change set.
  package let number: Int
  /// Written once: every change set is told with it several times.
  package let description: String

  init(epoch: String, number: Int) {
    self.epoch = epoch
    self.number = number
    description = "\(epoch)-\(number)"
  }

  package var next: ResultsVersion { ResultsVersion(epoch: epoch, number: number + 1) }

  /// The first version of a new life.
  package static func fresh() -> ResultsVersion {
    ResultsVersion(epoch: String(UInt64.random(in: .min ... .max), radix: 36), number: 1)
  }
}

/// What a refresh did to a live result.
package enum LiveResultEvent: Sendable {
  /// The result changed; `changes` turn the one into the other.
  case changed(ChangeSet, from: ResultsSnapshot, to: ResultsSnapshot)
  /// The shape of the records changed: start over with this snapshot.
  case reset(ResultsSnapshot)
  /// The result could not be brought up to date; the old one stands.
  case failed(FetchFailure)
  /// A failure is over, and the result is what it was before it.
  case recovered
}
