import Callers
import HTTPServer
import Locks

/// What a stream shows: one whole result, or a composition.
enum StreamSubject: Sendable, Equatable {
  case feed(FeedKey)
  case composition(Composition)

  /// The live queries that it takes.
  var keys: [FeedKey] {
    switch self {
    case .feed(let key): [key]
    case .composition(let composition): composition.members.map(\.key)
    }
  }

  /// The same for one stream alone, if it is one that may show an earlier commit: a pace holds back
  /// what its queries show already.
  var alone: StreamSubject? {
    guard case .composition(var composition) = self, composition.minimumInterval != nil else {
      return nil
    }
    composition.own = .random(in: .min ... .max)
    return .composition(composition)
  }

  /// What events about the stream as a whole call its query.
  var name: MemberName { name(ofMember: 0) }

  /// What events call the query that a stream of several may not show any more.
  func name(of refused: RefusedMember) -> MemberName {
    name(ofMember: keys.firstIndex { $0.query == refused.query } ?? 0)
  }

  private func name(ofMember index: Int) -> MemberName {
    switch self {
    case .feed(let key):
      return MemberName(
        query: key.query, arguments: key.arguments, window: nil, isAlwaysNamed: false)
    case .composition(let composition):
      let member = composition.members[index]
      return MemberName(
        query: member.key.query, arguments: member.key.arguments, window: member.window,
        isAlwaysNamed: composition.isMultiple)
    }
  }
}

/// Why one of several queries cannot be shown together with the others.
struct RefusedMember: Error {
  let query: String
  let problem: Problem
}

/// A feed that a stream uses, and what it uses of its address's share.
final class StreamLease: Sendable {
  let feed: any StreamableFeed
  private let share: Share
  private let registry: FeedRegistry
  private let isOver = Atomic(false)

  init(_ feed: any StreamableFeed, _ share: Share, _ registry: FeedRegistry) {
    self.feed = feed
    self.share = share
    self.registry = registry
  }

  deinit { end() }

  /// Any number of times, from any thread.
  func end() {
    guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
    feed.release(to: registry)
    share.end()
  }
}

extension RecordsService {
  /// Hands over what a stream shows, once it is there.
  ///
  /// - Parameters:
  ///   - subject: what is shown.
  ///   - request: asks for the stream.
  ///   - goesOn: whether the stream has been granted already, and shows something else now.
  ///   - body: is called once; with 429 where what is shown holds more than the caller is granted.
  /// - Returns: what gives up waiting for it; nil: there is nothing to wait for.
  /// - Throws: 429, where it is more than the client is granted.
  func lease(
    _ subject: StreamSubject, for request: Request, goesOn: Bool = false,
    _ body: @escaping @Sendable (Result<StreamLease, Problem>) -> Void
  ) throws(Problem) -> (@Sendable () -> Void)? {
    let share = try share(of: subject.keys, isStream: true, mayExceed: goesOn, request)
    let hand = { @Sendable [self] (feed: any StreamableFeed) in
      let lease = StreamLease(feed, share, registry)
      do throws(Problem) {
        try weigh(feed, mayExceed: goesOn)
        body(.success(lease))
      } catch {
        lease.end()
        body(.failure(error))
      }
    }
    switch subject {
    case .feed(let key):
      return registry.acquire(key) { result in
        switch result {
        case .success(let feed): hand(feed)
        case .failure(let failure): body(.failure(problem(failure, of: subject.name.query)))
        }
      }
    case .composition(let composition):
      return registry.acquire(composition) { result in
        switch result {
        case .success(let feed): hand(feed)
        case .failure(let failure): body(.failure(problem(failure, of: subject.name.query)))
        }
      }
    }
  }

  /// What a request uses of what its address and its caller are granted.
  ///
  /// - Throws: 429, where it is more.
  func share(
    of keys: [FeedKey], isStream: Bool = false, mayExceed: Bool = false, _ request: Request
  ) throws(Problem) -> Share {
    let ofAddress = try registry.shares.take(
      keys, isStream: isStream, mayExceed: mayExceed, for: request.site)
    guard let caller, caller.claims != nil else { return ofAddress }
    let ofCaller = try registry.callerShares.take(
      keys, isStream: isStream, mayExceed: mayExceed, for: caller.identity.key)
    return Share {
      ofAddress.end()
      ofCaller.end()
    }
  }

  /// Counts what a stream shows among what its caller is granted.
  ///
  /// - Throws: 429, where it is more.
  private func weigh(_ feed: any StreamableFeed, mayExceed: Bool) throws(Problem) {
    guard let caller, caller.claims != nil else { return }
    try registry.callerShares.weigh(
      feed.sizes, mayExceed: mayExceed, for: caller.identity.key)
  }

  /// A stream's body: its beginning, and then what the feed tells; where it is shared, until its end.
  func body(
    _ beginning: StreamBeginning, _ feed: any StreamableFeed, _ format: EventFormat,
    _ heartbeat: HeartbeatForm, _ sharing: StreamSharing? = nil,
    onEnd: @escaping @Sendable () -> Void
  ) -> StreamBody {
    let endCount = streams.begin(Set(feed.keys.map(\.query)))
    return StreamBody(
      prefix: beginning.prefix, broadcast: feed.log.broadcast, position: beginning.position,
      heartbeat: Heartbeat(bytes: heartbeat.bytes, interval: silence),
      onLag: { feed.resumption(after: $0) },
      onStall: { feed.log.noteStall(at: $0) }, farewell: Retry.line,
      term: sharing?.term(of: feed.log),
      onEnd: {
        endCount()
        onEnd()
      }, recoding: format.recoding)
  }
}
