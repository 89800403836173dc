import HTTPServer
import HTTPTypes
import Synchronization

/// What each client address uses, so that one leaves room for the others.
///
/// Some 300 bytes for each address, and 100 for each live query that it uses.
final class AddressShares: Sendable {
  fileprivate struct Uses {
    var streams = 0
    /// The live queries, and by how many requests each is used.
    var queries: [FeedKey: Int] = [:]
  }

  private let streamsPerAddress: Int
  private let queriesPerAddress: Int
  private let uses = Mutex<[ClientSite: Uses]>([:])
  private let refused = Atomic(0)

  init(_ settings: FeedSettings) {
    streamsPerAddress = settings.streamsPerAddress
    queriesPerAddress = settings.queriesPerAddress
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
  ///   - site: who asks; nil: nobody knows, and nothing is counted.
  /// - Returns: the share.
  /// - Throws: 429, where it is more than the address is granted.
  func take(
    _ keys: [FeedKey], isStream: Bool = false, for site: ClientSite?
  ) throws(Problem) -> Share {
    guard let site else { return Share {} }
    let problem = uses.withLock { uses -> Problem? in
      var own = uses[site, default: Uses()]
      if isStream, own.streams >= streamsPerAddress {
        return Self.problem("streams", streamsPerAddress, "streamsPerAddress")
      }
      uses[site] = nil
      for key in keys { own.queries[key, default: 0] += 1 }
      if isStream { own.streams += 1 }
      let isTooMuch = own.queries.count > queriesPerAddress
      if isTooMuch { own.leave(keys, isStream: isStream) }
      if !own.isEmpty { uses[site] = own }
      return isTooMuch
        ? Self.problem("live queries", queriesPerAddress, "queriesPerAddress") : nil
    }
    if let problem {
      refused.wrappingAdd(1, ordering: .relaxed)
      throw problem
    }
    return Share { [self] in leave(keys, isStream: isStream, of: site) }
  }

  private func leave(_ keys: [FeedKey], isStream: Bool, of site: ClientSite) {
    uses.withLock { uses in
      // Taken out while it is changed, so that nothing of it is copied.
      guard var own = uses.removeValue(forKey: site) else { return }
      own.leave(keys, isStream: isStream)
      if !own.isEmpty { uses[site] = own }
    }
  }

  private static func problem(_ what: String, _ limit: Int, _ word: String) -> Problem {
    Problem(
      .tooManyRequests,
      "your address uses \(limit) \(what) already, the most that `limits: \(word)` grants one: close "
        + "some, or ask again later", fields: [.retryAfter: "5"])
  }
}

extension AddressShares.Uses {
  fileprivate var isEmpty: Bool { streams == 0 && queries.isEmpty }

  fileprivate mutating func leave(_ keys: [FeedKey], isStream: Bool) {
    for key in keys {
      guard let count = queries[key] else { continue }
      queries[key] = count > 1 ? count - 1 : nil
    }
    if isStream { streams -= 1 }
  }
}

/// What one request uses of its address's share; also over when it is forgotten.
final class Share: Sendable {
  private let onEnd: Mutex<(@Sendable () -> Void)?>

  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

  deinit { end() }

  /// Any number of times, from any thread.
  func end() { onEnd.withLock { $0.take() }?() }
}
