import Foundation
import Locks

/// A query that is followed for as long as somebody holds this.
final class RecordsSubscription<Record: Decodable & Sendable>: Sendable {
  /// All that is set within one frame of 60 a second is one request: a slider moves more often.
  private static var gathering: Duration { .milliseconds(16) }

  private let audience = Audience<Record>()
  private let link: RecordsLink<Record>
  let session: HTTPSession
  let tokens: TokenKeeper?
  private let state: Mutex<State>

  private struct State {
    var request: Result<RemoteRequest, RemoteRecordsError>
    /// nil: nobody has asked for anything yet.
    var task: Task<Void, Never>?
    var isClosed = false
  }

  init(
    _ request: Result<RemoteRequest, RemoteRecordsError>, session: HTTPSession,
    tokens: TokenKeeper?, decoder: JSONDecoder, settings: LinkSettings = LinkSettings()
  ) {
    state = Mutex(State(request: request))
    (self.session, self.tokens) = (session, tokens)
    link = RecordsLink(
      audience: audience, session: session, tokens: tokens, decoder: decoder, settings: settings)
  }

  deinit { close() }

  /// nil: the address is none of a query.
  var request: RemoteRequest? { state.withLock { try? $0.request.get() } }

  /// Follows the query from now on, if it does not yet.
  func start() {
    state.withLock { state in
      guard state.task == nil, !state.isClosed else { return }
      state.task = Task { [link, request = state.request] in
        switch request {
        case .success(let request): await link.follow(request)
        case .failure(let problem): await link.refuse(problem)
        }
      }
    }
  }

  /// Asks for something else of the same query. What is shown stays until the difference is here.
  func ask(_ change: (inout RemoteRequest) -> Void) {
    state.withLock { state in
      guard case .success(var request) = state.request else { return }
      change(&request)
      state.request = .success(request)
      guard let last = state.task, !state.isClosed else { return }
      audience.reopen()
      last.cancel()
      state.task = Task { [link] in
        await last.value
        try? await Task.sleep(for: Self.gathering)
        if !Task.isCancelled { await link.follow(request) }
      }
    }
  }

  /// What happens from now on, and before it what there is.
  func join() -> Inbox<Record> {
    let inbox = audience.join()
    if state.withLock(\.isClosed) { inbox.finish() } else { start() }
    return inbox
  }

  /// For good.
  func close() {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      state.task?.cancel()
      return !state.isClosed
    }
    guard isFirst else { return }
    audience.tell(.state(.closed))
    audience.finish()
    session.close()
  }
}
