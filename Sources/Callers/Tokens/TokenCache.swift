import Locks

/// The tokens that were good, so that each is verified once: the least recently used are forgotten.
///
/// It knows them by their hash, so what is in memory cannot be sent. Everything is forgotten when
/// other keys are in force.
package final class TokenCache: Sendable {
  /// Tokens; more are forgotten.
  package let capacity: Int
  private let entries: Mutex<RecentTokens>

  package init(capacity: Int) {
    self.capacity = max(1, capacity)
    entries = Mutex(RecentTokens(capacity: self.capacity))
  }

  /// Tokens that are remembered.
  package var count: Int { entries.withLock { $0.count } }

  /// A token that was good under the same keys and has not expired. O(1).
  package func token(
    for key: TokenDigest, now: UnixSeconds, generation: Int
  ) -> VerifiedToken? {
    entries.withLock { entries in
      guard entries.generation == generation else { return nil }
      return entries.use(key, now: now)
    }
  }

  /// Remembers a token that was good under these keys; nothing where they are no longer in force.
  /// O(1).
  package func insert(_ token: VerifiedToken, for key: TokenDigest, generation: Int) {
    entries.withLock { entries in
      if generation > entries.generation {
        entries = RecentTokens(capacity: capacity, generation: generation)
      }
      guard generation == entries.generation else { return }
      entries.insert(token, for: key)
    }
  }

  /// Checks that the entries are in one chain. O(n).
  package func checkInvariants() { entries.withLock { $0.checkInvariants() } }
}
