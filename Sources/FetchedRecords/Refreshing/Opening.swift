import Synchronization

/// Somebody who waits for the first result of a query.
///
/// Whoever no longer waits says so: a fetch that nobody waits for is ended.
package final class Opening: Sendable {
  let queryName: String
  let arguments: QueryArguments
  let onEvent: @Sendable (LiveResultEvent) -> Void
  /// Called on the refresher's queue, once.
  let completion: @Sendable (Result<LiveResult, FetchFailure>) -> Void
  private let onAbandon: @Sendable (Opening) -> Void
  private let isGivenUp = Atomic(false)

  init(
    _ queryName: String, _ arguments: QueryArguments,
    onEvent: @escaping @Sendable (LiveResultEvent) -> Void,
    completion: @escaping @Sendable (Result<LiveResult, FetchFailure>) -> Void,
    onAbandon: @escaping @Sendable (Opening) -> Void
  ) {
    self.queryName = queryName
    self.arguments = arguments
    self.onEvent = onEvent
    self.completion = completion
    self.onAbandon = onAbandon
  }

  /// Nobody waits any more: the completion is not called, unless it is under way; from any thread.
  package func abandon() {
    isGivenUp.store(true, ordering: .relaxed)
    onAbandon(self)
  }

  var isAbandoned: Bool { isGivenUp.load(ordering: .relaxed) }
}
