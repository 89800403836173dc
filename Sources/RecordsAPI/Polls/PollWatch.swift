import Callers
import FetchedRecords
import HTTPServer
import Locks

/// Looks out for what may change what a caller may see, while their request waits.
final class PollWatch: Sendable {
  private let gate: Gatekeeper
  private let expires: UnixSeconds?
  /// Tells of the caller's claims, and is released when the request is answered.
  private let claims: Feed?
  private let registry: FeedRegistry
  private let stale = Atomic(false)
  /// Nil once it has changed, or nobody waits any more.
  private let onChange = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ caller: Caller, claims: Feed?, _ registry: FeedRegistry) {
    gate = caller.gate
    expires = caller.expires
    self.claims = claims
    self.registry = registry
  }

  /// Whether the claims may be others than those by which it was found out what the caller may see.
  ///
  /// A commit is noted before any feed has it: what was read is of no later one, if none is noted.
  var isStale: Bool { stale.load(ordering: .sequentiallyConsistent) }

  /// Why the caller is nobody any more; nil: that is not so.
  var expiry: Problem? {
    gate.expiry(of: expires)
  }

  /// Begins to listen, between two turns of the engine; `body` is called once, between two turns.
  func begin(_ body: @escaping @Sendable () -> Void) {
    onChange.withLock { $0 = body }
    claims?.listen(self) { [weak self] _, _, _ in self?.noteChange() }
  }

  /// In the engine's turn, before anything of that commit is in a log.
  private func noteChange() {
    stale.store(true, ordering: .sequentiallyConsistent)
    guard let body = onChange.withLock({ $0.take() }) else { return }
    registry.refresher.queue.async { body() }
  }

  /// Nobody waits any more.
  func end() {
    onChange.withLock { $0 = nil }
    guard let claims else { return }
    claims.stopListening(self)
    claims.release(to: registry)
  }
}
