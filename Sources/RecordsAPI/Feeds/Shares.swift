import HTTPServer
import HTTPTypes
import Locks

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
  /// What the streams' live queries hold; nil: that is not counted.
  private let bytes: Grant?
  /// Whose they are, in words: "your address uses".
  private let whose: String
  private let uses = Mutex<[Owner: Uses]>([:])
  private let refused = Atomic(0)

  init(streams: Grant, queries: Grant, bytes: Grant? = nil, whose: String) {
    self.streams = streams
    self.queries = queries
    self.bytes = bytes
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
      if isStream, !mayExceed {
        if own.streams >= streams.count { return self.problem("streams", streams) }
        if let bytes, own.bytes >= bytes.count { return self.problem("bytes of results", bytes) }
      }
      uses[owner] = nil
      for key in keys { own.queries[key, default: Uses.OfQuery()].count += 1 }
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

  /// Counts what the live queries of a stream hold, once that is known.
  ///
  /// O(k), k queries.
  ///
  /// - Parameters:
  ///   - sizes: their bytes.
  ///   - mayExceed: as where the share was taken.
  ///   - owner: whose share has been taken.
  /// - Throws: 429, where they are more than the owner is granted. A single one never is: what one
  ///   result may take has a limit of its own.
  func weigh(
    _ sizes: [FeedKey: Int], mayExceed: Bool = false, for owner: Owner
  ) throws(Problem) {
    guard let bytes else { return }
    let isTooMuch = uses.withLock { uses in
      guard var own = uses.removeValue(forKey: owner) else { return false }
      defer { uses[owner] = own }
      let added = sizes.filter { (own.queries[$0.key]?.bytes ?? 0) < $0.value }
      let isAlone = own.bytes == 0 && sizes.count == 1
      let sum = added.reduce(own.bytes) { $0 + $1.value - (own.queries[$1.key]?.bytes ?? 0) }
      if sum > bytes.count, !added.isEmpty, !isAlone, !mayExceed { return true }
      for (key, size) in added { own.weigh(key, size) }
      return false
    }
    guard isTooMuch else { return }
    refused.wrappingAdd(1, ordering: .relaxed)
    throw problem("bytes of results", bytes)
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
  struct OfQuery {
    /// The requests that use it.
    var count = 0
    /// What it held when a stream began to show it.
    var bytes = 0
  }

  var streams = 0
  var queries: [FeedKey: OfQuery] = [:]
  /// Those of all queries.
  private(set) var bytes = 0

  var isEmpty: Bool { streams == 0 && queries.isEmpty }

  mutating func weigh(_ key: FeedKey, _ size: Int) {
    guard let query = queries[key] else { return }
    bytes += size - query.bytes
    queries[key]?.bytes = size
  }

  mutating func leave(_ keys: [FeedKey], isStream: Bool) {
    for key in keys {
      guard let query = queries[key] else { continue }
      if query.count > 1 {
        queries[key]?.count -= 1
      } else {
        queries[key] = nil
        bytes -= query.bytes
      }
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
