import Dispatch
package import OrderedResults

// What clients ask for: first results, and results anew.
extension Refresher {
  /// Fetches a query and keeps it up to date from now on.
  ///
  /// - Parameters:
  ///   - name: a query of the ``catalog``.
  ///   - arguments: values for its parameters; one that is left out is NULL.
  ///   - window: the offsets that are wanted, where that is to be live by itself.
  ///   - prepare: is called, perhaps on another queue, with a change that was worked out beside
  ///     ``queue``, before that is told on it.
  ///   - onEvent: is called on ``queue`` for every change after the snapshot, with what takes those
  ///     who have something to do then.
  ///   - completion: is called on ``queue``, before any event, with the live result, or with a
  ///     ``FetchFailure``.
  /// - Returns: what lets go of the wish.
  @discardableResult
  package func open(
    _ name: String, arguments: QueryArguments, window: Range<Int>? = nil,
    prepare: (@Sendable (ChangeSet, _ old: ResultsSnapshot, _ new: ResultsSnapshot) -> Void)? = nil,
    onEvent: @escaping @Sendable (LiveResultEvent, inout Sleepers) -> Void,
    completion: @escaping @Sendable (Result<LiveResult, FetchFailure>) -> Void
  ) -> @Sendable () -> Void {
    let opening = Opening(
      NamedQueryListener(
        name, arguments, window, engine: self, prepare: prepare, onEvent: onEvent),
      completion: completion)
    access.async { [self] in
      line.openings.append(opening)
      serveSoon()
    }
    return { [weak self] in self?.abandon(opening) }
  }

  /// Runs a live result's query again now, whatever was noticed.
  ///
  /// Values that no commit announces, such as `datetime('now')`, change only like this. All that ask
  /// before it has begun are answered by one fetch.
  package func fetch(
    _ result: LiveResult,
    completion: @escaping @Sendable (Result<ResultsSnapshot, FetchFailure>) -> Void
  ) {
    access.async { [self] in
      guard live.contains(result) else { return completion(.success(result.snapshot)) }
      result.receivers.append(completion)
      refetch(result, because: "asked")
      serveSoon()
    }
  }
}
