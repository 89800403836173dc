import Synchronization

/// Somebody who waits for the first result of a query.
///
/// Whoever no longer waits says so: a fetch that nobody waits for is ended.
package final class Opening: Sendable {
  let listener: any LiveResultListener
  /// Called on the refresher's queue, once.
  let completion: @Sendable (Result<LiveResult, FetchFailure>) -> Void
  private let onAbandon: @Sendable (Opening) -> Void
  private let isGivenUp = Atomic(false)

  init(
    for listener: any LiveResultListener,
    completion: @escaping @Sendable (Result<LiveResult, FetchFailure>) -> Void,
    onAbandon: @escaping @Sendable (Opening) -> Void
  ) {
    self.listener = listener
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
