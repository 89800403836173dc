import Dispatch
import Synchronization

/// What the owner has not heard yet, joined into one event.
///
/// There is at most one callback under way, whatever happens meanwhile: memory is a few words, and
/// a thousand commits during one refresh are one event after it.
final class EventOutbox: Sendable {
  private let queue: DispatchQueue
  private let handler: @Sendable (WatchEvent) -> Void
  private let onTake: @Sendable () -> Void
  /// Guarded by its mutex, which is never held during a callback.
  private let state = Mutex(State())

  private struct State {
    var news = PendingNews()
    var isQueued = false
    var isClosed = false
  }

  /// - Parameters:
  ///   - queue: the owner's, where `handler` is called.
  ///   - onTake: called on the owner's queue just before `handler`.
  ///   - handler: the owner's.
  init(
    queue: DispatchQueue, onTake: @escaping @Sendable () -> Void,
    handler: @escaping @Sendable (WatchEvent) -> Void
  ) {
    self.queue = queue
    self.onTake = onTake
    self.handler = handler
  }

  /// Whether a callback is under way that has not begun.
  var isQueued: Bool { state.withLock(\.isQueued) }

  func post(_ change: (inout PendingNews) -> Void) {
    let mustQueue = state.withLock { state in
      change(&state.news)
      guard !state.isQueued, !state.isClosed, state.news.event != nil else { return false }
      state.isQueued = true
      return true
    }
    if mustQueue { queue.async { self.deliver() } }
  }

  /// No callback begins after this.
  func close() { state.withLock { $0.isClosed = true } }

  private func deliver() {
    let event: WatchEvent? = state.withLock { state in
      state.isQueued = false
      return state.isClosed ? nil : state.news.take()
    }
    onTake()
    if let event { handler(event) }
  }
}
