import Synchronization

/// Somebody who waits for a page of a result that is not live.
package final class PageRead: Sendable {
  let queryName: String
  let arguments: QueryArguments
  let range: PageRange
  /// Called on the refresher's queue, once.
  let completion: @Sendable (Result<PageAnswer, FetchFailure>) -> Void
  private let onAbandon: @Sendable (PageRead) -> Void
  private let isGivenUp = Atomic(false)

  init(
    _ queryName: String, _ arguments: QueryArguments, _ range: PageRange,
    completion: @escaping @Sendable (Result<PageAnswer, FetchFailure>) -> Void,
    onAbandon: @escaping @Sendable (PageRead) -> Void
  ) {
    self.queryName = queryName
    self.arguments = arguments
    self.range = range
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
