import Callers
import Dispatch
import FetchedRecords
import HTTPServer
import HeldMemory
import Locks
import OrderedResults
import QueryAnalysis

/// The live feeds: one for each query and set of arguments that somebody watches or has asked for
/// lately, and one for each composition of them.
final class FeedRegistry: Sendable {
  let refresher: Refresher
  private let settings: FeedSettings
  let feeds: LivePool<FeedKey, Feed>
  let compositions: LivePool<Composition, ComposedFeed>
  let counters = FeedCounters()
  private let states = RememberedStates()
  let pages = PageCache()
  let shares: Shares<ClientSite>
  let callerShares: Shares<IdentityKey>
  /// Live queries that went because their memory was needed.
  let evictions = Atomic(0)
  /// From now on every stream ends.
  private let isEnding = Mutex(false)
  private let told: Mutex<FailureText>

  /// What clients are told of a failure of the query of a name.
  typealias FailureText = @Sendable (FetchFailure, _ query: String) -> FetchFailure

  init(
    refresher: Refresher, settings: FeedSettings,
    telling told: @escaping FailureText = { failure, _ in failure }
  ) {
    self.refresher = refresher
    self.told = Mutex(told)
    self.settings = settings
    shares = Shares(
      streams: .init(count: settings.streamsPerAddress, word: "streamsPerAddress"),
      queries: .init(count: settings.queriesPerAddress, word: "queriesPerAddress"),
      whose: "your address uses")
    callerShares = Shares(
      streams: .init(count: settings.streamsPerCaller, word: "streamsPerCaller"),
      queries: .init(count: settings.queriesPerCaller, word: "queriesPerCaller"),
      bytes: .init(
        count: settings.memoryPerCaller ?? refresher.limits.memory / 4, word: "memoryPerCaller"),
      whose: "you use")
    let feeds = LivePool<FeedKey, Feed>(
      maximum: settings.maximumOfControllers, linger: settings.linger,
      mostBurdens: settings.lingeringBurdens, isBurden: \.isBurden, wasUsed: { $0.wasRead() },
      letGo: { feed in
        feed.close()
        refresher.close(feed.controller)
      })
    self.feeds = feeds
    compositions = LivePool(
      maximum: settings.maximumOfControllers, linger: settings.linger,
      mostBurdens: settings.lingeringBurdens / 4, isBurden: \.hasOwnWindows,
      letGo: {
        // A window is there again in a moment, and each looks at every commit.
        for feed in $0.close() {
          feeds.release(feed, of: feed.key, lingers: feed.key.window == nil)
        }
      })
    refresher.memory.whenFull { [weak self] in self?.letGo(of: $0) ?? false }
  }

  // MARK: - Feeds

  /// Hands over the feed of `key`, which its user gives back with ``release(_:)``.
  ///
  /// - Returns: what gives up waiting for it; nil: there is nothing to wait for.
  @discardableResult
  func acquire(
    _ key: FeedKey, _ body: @escaping @Sendable (Result<Feed, FetchFailure>) -> Void
  ) -> (@Sendable () -> Void)? {
    // A composition that nobody uses still uses its members.
    feeds.acquire(key, makeRoom: { compositions.evict() }, open: { open(key, $0, $1) }) { [self] in
      body(closedIfEnding($0))
    }
  }

  func release(_ feed: Feed, lingers: Bool = true) {
    feeds.release(feed, of: feed.key, lingers: lingers)
  }

  /// Whether there is a feed whose result can be shown at once.
  func isLive(_ key: FeedKey) -> Bool { feeds.isLive(key) }

  /// The feed whose result can be shown at once, if there is one.
  func live(_ key: FeedKey) -> Feed? { feeds.live(key) }

  /// Makes a feed, as for somebody who reads it once.
  func warm(_ key: FeedKey) {
    acquire(key) { [self] result in
      if case .success(let feed) = result { release(feed) }
    }
  }

  private func open(
    _ key: FeedKey, _ wish: Wish,
    _ completion: @escaping @Sendable (Result<Feed, FetchFailure>) -> Void
  ) {
    // Events and the completion both come on the refresher's queue, the completion first; what is
    // prepared on another queue is of changes that come later. Weakly: the feed holds its controller, and
    // the controller the closure that its events go to.
    nonisolated(unsafe) weak var made: Feed?
    let giveUp = refresher.open(
      key.query, arguments: key.arguments, window: key.window,
      prepare: { made?.prepare($0, from: $1, to: $2) }
    ) { [weak self] event, sleepers in
      if case .failed(let failure) = event {
        made?.receive(.failed(self?.text(of: failure, key.query) ?? failure), &sleepers)
      } else {
        made?.receive(event, &sleepers)
      }
    } completion: { [settings, counters, states] result in
      completion(
        result.map { controller in
          let feed = Feed(
            key: key, controller: controller, settings: settings, counters: counters,
            states: states)
          made = feed
          return feed
        })
    }
    wish.onAbandon(giveUp)
  }

  /// What clients are told of a failure of a query.
  private func text(of failure: FetchFailure, _ query: String) -> FetchFailure {
    told.withLock(\.self)(failure, query)
  }

  /// Clients are told other texts from now on.
  func tell(by text: @escaping FailureText) { told.withLock { $0 = text } }

  // MARK: - Compositions

  /// Hands over the feed of several queries, of a window, or of a slower pace.
  ///
  /// - Returns: what gives up waiting for it; nil: there is nothing to wait for.
  func acquire(
    _ composition: Composition,
    _ body: @escaping @Sendable (Result<ComposedFeed, FetchFailure>) -> Void
  ) -> (@Sendable () -> Void)? {
    compositions.acquire(composition, open: { open(composition, $0, $1) }) { [self] in
      body(closedIfEnding($0))
    }
  }

  func release(_ feed: ComposedFeed) { compositions.release(feed, of: feed.composition) }

  /// Acquires the members one after the other, and then composes them on the refresher's queue,
  /// where no refresh is under way.
  private func open(
    _ composition: Composition, _ wish: Wish,
    _ completion: @escaping @Sendable (Result<ComposedFeed, FetchFailure>) -> Void
  ) {
    acquire(composition.members, wish) { [self] result in
      switch result {
      case .failure(let failure): completion(.failure(failure))
      case .success(let feeds):
        refresher.queue.async { [self] in
          completion(
            .success(
              ComposedFeed(
                composition, feeds: feeds, refresher: refresher,
                settings: settings, counters: counters, states: states)))
        }
      }
    }
  }

  private func acquire(
    _ members: [Composition.Member], _ wish: Wish, acquired: [Feed] = [],
    _ completion: @escaping @Sendable (Result<[Feed], FetchFailure>) -> Void
  ) {
    guard acquired.count < members.count else { return completion(.success(acquired)) }
    findKey(of: members[acquired.count]) { [self] key in
      let giveUp = acquire(key) { [self] result in
        switch result {
        case .success(let feed): acquire(members, wish, acquired: acquired + [feed], completion)
        case .failure(let failure):
          for feed in acquired { release(feed) }
          completion(.failure(failure))
        }
      }
      if let giveUp { wish.onAbandon(giveUp) }
    }
  }

  /// Finds out what a member is to be shown of: the whole result, or a window that is live by itself.
  private func findKey(
    of member: Composition.Member, _ body: @escaping @Sendable (FeedKey) -> Void
  ) {
    let whole = member.key
    guard let window = member.window, window.isShort, !feeds.isLive(whole),
      let query = try? refresher.catalog[whole.query]?.query(with: whole.arguments),
      query.outline != nil
    else { return body(whole) }
    var own = whole
    own.window = window.range
    if feeds.isLive(own) { return body(own) }
    refresher.hasWindows(of: whole.query, arguments: whole.arguments) { [own] hasWindows in
      body(hasWindows ? own : whole)
    }
  }

  // MARK: - All of them

  /// The feeds of one query that are live now.
  func feeds(of query: String) -> [(feed: Feed, users: Int)] {
    feeds.live.filter { $0.key.query == query }.map { ($0.value, $0.users) }
  }

  /// Controllers that are live now, and the records that they hold.
  var totals: (controllers: Int, records: Int) {
    let live = feeds.live
    return (live.count, live.reduce(0) { $0 + $1.value.head.snapshot.results.count })
  }

  /// Whether every stream ends now.
  var isDraining: Bool { isEnding.withLock { $0 } }

  /// From now on streams end after their beginning.
  func beginEnding() { isEnding.withLock { $0 = true } }

  /// Ends every stream after the events appended so far, when no more are to last.
  func closeAll() {
    for item in feeds.live { item.value.log.close() }
    for item in compositions.live { item.value.log.close() }
  }

  /// A feed whose first fetch came to its end while the server was ending is closed like the others.
  private func closedIfEnding<F: StreamableFeed>(
    _ result: Result<F, FetchFailure>
  ) -> Result<F, FetchFailure> {
    if case .success(let feed) = result, isDraining { feed.log.close() }
    return result
  }

  /// Ends the streams of some queries after a whole event: whoever comes back is answered as if for
  /// the first time.
  ///
  /// The feeds go first: whoever comes back meanwhile makes no composition of one that is closed.
  func end(_ isMeant: (_ query: String) -> Bool) {
    feeds.removeAll(where: { isMeant($0.query) }, because: .replaced)
    compositions.removeAll(
      where: { $0.members.contains { isMeant($0.key.query) } }, because: .replaced)
  }

  /// Lets go of what is live of a query and nobody uses.
  ///
  /// - Returns: whether nothing of it is live any more.
  func endIdle(of query: String) -> Bool {
    // These use feeds as long as they live.
    _ = compositions.removeIdle { $0.members.contains { $0.key.query == query } }
    return feeds.removeIdle { $0.query == query }
  }

  /// Lets go of what nobody has used for a while.
  func sweep() {
    compositions.sweep()
    feeds.sweep()
    pages.sweep()
  }
}

extension Feed {
  /// About how many bytes its records take. O(log n), n records.
  var size: Int { head.snapshot.results.estimatedByteCount }

  func release(to registry: FeedRegistry) { registry.release(self) }
}

extension ComposedFeed {
  func release(to registry: FeedRegistry) { registry.release(self) }
}

extension Feed {
  /// Whether each commit to its tables costs something for it, and anybody can make another one.
  fileprivate var isBurden: Bool {
    key.window != nil || (!key.arguments.isEmpty && head.snapshot.query.routing == nil)
  }
}
