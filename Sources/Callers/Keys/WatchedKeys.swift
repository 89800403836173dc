import Locks

/// Verifies signed tokens with the keys of a file as it is now, and remembers those that are good.
///
/// It has no thread: whoever verifies looks whether the file has changed, if nobody has in the last
/// second. A file that cannot be read, or is no key set, leaves those in force that there are.
package final class WatchedKeys: Sendable {
  /// What is worth a log message.
  package enum Event: Sendable, Equatable {
    /// Other keys are in force, or the file is good again.
    case reloaded(keys: Int, unused: [String])
    /// The file is not good; it is not told again until that changes.
    case failed(String)
  }

  /// Seconds from one look at the file to the next.
  ///
  /// 1: a key that is taken back is known at once as far as people go, for one system call a second.
  static let interval: UnixSeconds = 1

  let source: KeySource
  let settings: TokenSettings
  let cache: TokenCache
  let report: @Sendable (Event) -> Void
  let state: Mutex<State>

  /// Reads the keys.
  ///
  /// - Parameters:
  ///   - source: Where they are.
  ///   - settings: What a token must be like.
  ///   - cacheCapacity: Tokens that are remembered, with their claims.
  ///   - report: Is told what happens to the file, on the thread of whoever verifies.
  /// - Throws: Where they are not good.
  package init(
    source: KeySource, settings: TokenSettings, cacheCapacity: Int = 20_000,
    report: @escaping @Sendable (Event) -> Void
  ) throws(KeyProblem) {
    let (keys, file) = try source.load(for: settings.algorithms)
    (self.source, self.settings, self.report) = (source, settings, report)
    cache = TokenCache(capacity: cacheCapacity)
    state = Mutex(
      State(verifier: TokenVerifier(settings: settings, keys: keys), bytes: file?.bytes ?? []))
  }

  /// Goes up by one whenever other keys are in force.
  package var generation: Int { state.withLock { $0.generation } }

  /// The keys in force.
  package var keys: KeySet { state.withLock { $0.verifier.keys } }

  /// Whether what a key has signed is still good: one of the name that `CallerIdentity.signingKey`
  /// has. O(k), k keys.
  package func isInForce(_ key: String, now: UnixSeconds) -> Bool {
    lookAtFile(now: now)
    return state.withLock { $0.verifier.keys.keys.contains { $0.name == key } }
  }

  /// What a token says, if it is good at this time.
  ///
  /// A hash of the token where it is remembered, and as `TokenVerifier` where it is not.
  ///
  /// - Throws: Why it is not; that is not remembered.
  package func verify(_ token: String, now: UnixSeconds) throws(TokenError) -> VerifiedToken {
    lookAtFile(now: now)
    // What is too long to be a token is not worth a hash.
    try CompactToken.checkSize(token)
    let digest = TokenDigest(of: token)
    if let known = cache.token(for: digest, now: now, generation: generation) {
      return known
    }
    // Of one moment: what was good under other keys is not remembered for these.
    let (verifier, verifiedUnder) = state.withLock { ($0.verifier, $0.generation) }
    let verified = try verifier.verify(token, now: now)
    cache.insert(verified, for: digest, generation: verifiedUnder)
    return verified
  }
}
