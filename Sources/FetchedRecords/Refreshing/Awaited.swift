import Locks

/// What somebody waits for, until they give up: what is done for an answer that nobody waits for any
/// more is ended.
final class Awaited<Request: Sendable, Answer: Sendable>: Sendable {
  let request: Request
  /// Called on the refresher's queue, once.
  let completion: @Sendable (Result<Answer, FetchFailure>) -> Void
  private let isGivenUp = Atomic(false)

  init(
    _ request: Request, completion: @escaping @Sendable (Result<Answer, FetchFailure>) -> Void
  ) {
    self.request = request
    self.completion = completion
  }

  /// Nobody waits any more: the completion is not called, unless it is under way; from any thread.
  func abandon() { isGivenUp.store(true, ordering: .relaxed) }

  var isAbandoned: Bool { isGivenUp.load(ordering: .relaxed) }
}

/// The first result of a query, for whom it is.
typealias Opening = Awaited<any LiveResultListener, LiveResult>

/// A page of a result that is not live.
typealias PageRead = Awaited<PageRequest, PageAnswer>

struct PageRequest: Sendable {
  let queryName: String
  let arguments: QueryArguments
  let range: PageRange
}
