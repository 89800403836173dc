package import OrderedResults
import Synchronization

/// One live query with one set of arguments; all that watch it share it.
///
/// Its refresher brings it up to date; anyone may read its ``snapshot``, from any thread.
package final class QueryController: Sendable {
  package let queryName: String
  package let arguments: QueryArguments
  /// What an earlier life of the process showed last, and how the first snapshot came of it; nil:
  /// nothing is known of one.
  package let resumed: (old: ResultsSnapshot, changes: ChangeSet)?
  /// Called on the refresher's queue, after the read transaction is over.
  let onEvent: @Sendable (ControllerEvent) -> Void

  private struct State {
    var snapshot: ResultsSnapshot
    var failure: FetchFailure?
  }

  private let state: Mutex<State>

  init(
    queryName: String, arguments: QueryArguments, snapshot: ResultsSnapshot,
    resumed: (old: ResultsSnapshot, changes: ChangeSet)? = nil,
    onEvent: @escaping @Sendable (ControllerEvent) -> Void
  ) {
    self.queryName = queryName
    self.arguments = arguments
    self.resumed = resumed
    self.onEvent = onEvent
    state = Mutex(State(snapshot: snapshot))
  }

  /// The last good result.
  package var snapshot: ResultsSnapshot { state.withLock(\.snapshot) }

  /// What went wrong when the controller was last brought up to date, if it did.
  package var failure: FetchFailure? { state.withLock(\.failure) }

  /// Takes a new result; returns whether a failure is over with it.
  func succeed(with snapshot: ResultsSnapshot) -> Bool {
    state.withLock { state in
      defer { state = State(snapshot: snapshot) }
      return state.failure != nil
    }
  }

  /// Keeps the last good result; returns whether this failure is news.
  func fail(with failure: FetchFailure) -> Bool {
    state.withLock { state in
      defer { state.failure = failure }
      return state.failure != failure
    }
  }
}

/// One state of a controller's results. Immutable: it may be handed anywhere.
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

/// Names one state of one controller's results: equal versions mean equal states.
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

/// What a refresh did to a controller.
package enum ControllerEvent: Sendable {
  /// The result changed; `changes` turn the one into the other.
  case changed(ChangeSet, from: ResultsSnapshot, to: ResultsSnapshot)
  /// The shape of the records changed: start over with this snapshot.
  case reset(ResultsSnapshot)
  /// The result could not be brought up to date; the old one stands.
  case failed(FetchFailure)
  /// A failure is over, and the result is what it was before it.
  case recovered
}
