import HTTPServer
import HTTPTypes
import Synchronization

/// What each client address or each caller uses, so that one leaves room for the others.
///
/// Some 300 bytes for each owner, and 100 for each live query that it uses.
final class Shares<Owner: Hashable & Sendable>: Sendable {
  /// What one owner is granted, and the word of `limits` that says it.
  struct Grant {
    let count: Int
    let word: String
  }

  private let streams: Grant
  private let queries: Grant
  /// Whose they are, in words: "your address uses".
  private let whose: String
  private let uses = Mutex<[Owner: Uses]>([:])
  private let refused = Atomic(0)

  init(streams: Grant, queries: Grant, whose: String) {
    self.streams = streams
    self.queries = queries
    self.whose = whose
  }

  /// Requests that were refused.
  var refusals: Int { refused.load(ordering: .relaxed) }

  /// Counts what a request uses, until its share ends.
  ///
  /// O(k), k queries.
  ///
  /// - Parameters:
  ///   - keys: the live queries that it uses.
  ///   - isStream: whether it is answered with a stream.
  ///   - mayExceed: whether it is granted whatever is used already, since something else ends for it.
  ///   - owner: who asks; nil: nobody knows, and nothing is counted.
  /// - Returns: the share.
  /// - Throws: 429, where it is more than the owner is granted.
  func take(
    _ keys: [FeedKey], isStream: Bool = false, mayExceed: Bool = false, for owner: Owner?
  ) throws(Problem) -> Share {
    guard let owner else { return Share {} }
    let problem = uses.withLock { uses -> Problem? in
      var own = uses[owner, default: Uses()]
      if isStream, !mayExceed, own.streams >= streams.count {
        return self.problem("streams", streams)
      }
      uses[owner] = nil
      for key in keys { own.queries[key, default: 0] += 1 }
      if isStream { own.streams += 1 }
      let isTooMuch = !mayExceed && own.queries.count > queries.count
      if isTooMuch { own.leave(keys, isStream: isStream) }
      if !own.isEmpty { uses[owner] = own }
      return isTooMuch ? self.problem("live queries", queries) : nil
    }
    if let problem {
      refused.wrappingAdd(1, ordering: .relaxed)
      throw problem
    }
    return Share { [self] in leave(keys, isStream: isStream, of: owner) }
  }

  private func leave(_ keys: [FeedKey], isStream: Bool, of owner: Owner) {
    uses.withLock { uses in
      // Taken out while it is changed, so that nothing of it is copied.
      guard var own = uses.removeValue(forKey: owner) else { return }
      own.leave(keys, isStream: isStream)
      if !own.isEmpty { uses[owner] = own }
    }
  }

  private func problem(_ what: String, _ grant: Grant) -> Problem {
    Problem(
      .tooManyRequests,
      "\(whose) \(grant.count) \(what) already, the most that `limits: \(grant.word)` grants one: "
        + "close some, or ask again later", fields: [.retryAfter: "5"])
  }
}

/// What one owner uses.
private struct Uses {
  var streams = 0
  /// The live queries, and by how many requests each is used.
  var queries: [FeedKey: Int] = [:]

  var isEmpty: Bool { streams == 0 && queries.isEmpty }

  mutating func leave(_ keys: [FeedKey], isStream: Bool) {
    for key in keys {
      guard let count = queries[key] else { continue }
      queries[key] = count > 1 ? count - 1 : nil
    }
    if isStream { streams -= 1 }
  }
}

/// What one request uses of its owner's share; also over when it is forgotten.
final class Share: Sendable {
  private let onEnd: Mutex<(@Sendable () -> Void)?>

  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

  deinit { end() }

  /// Any number of times, from any thread.
  func end() { onEnd.withLock { $0.take() }?() }
}
