import Dispatch
import FetchedRecords
import HTTPServer
import Locks
import OrderedResults

/// A feed made of others: of several queries, of a window, or with change sets joined to a pace.
///
/// When a member changes, the difference from what was last sent to what it shows now becomes one
/// change set. All members that a refresh changed come together.
///
/// What a member tells is only noted on the refresher's queue. The differences are worked out on a
/// queue of the feed's own, so that other clients' changes do not wait for them.
final class ComposedFeed: StreamableFeed {
  let composition: Composition
  let log: EventLog
  let counters: FeedCounters
  let states: RememberedStates
  private let refresher: Refresher
  private var queue: any EngineQueue { refresher.queue }
  /// Where everything is written, in order, on the threads of its class, which leave those of the
  /// refresher and of the event loops alone. They are as many as there are processors: without a target
  /// each feed would have one of its own.
  private let writing = DispatchQueue(
    label: "didchange.composition", qos: .utility, target: .global(qos: .utility))
  let feeds: [Feed]
  /// The members of each feed: several windows may be of one.
  private let membersOfFeeds: [[Int]]

  /// Changed on ``writing`` only.
  private struct State {
    var shown: [PresentState.Member]
    /// Of each member, the version of its whole result that is shown, or of which a window is.
    var bases: [ResultsVersion]
    /// Of several queries together, or of the only one.
    var version: ResultsVersion
    var position: Broadcast.Position
  }

  private struct Arrivals {
    /// Of each member, what the refresh told that is being told, and those of this interval before.
    var members: MemberArrivals
    /// Whether news will be cut, or those that were cut are being written.
    var isBusy = false
    /// When the streams were last told something.
    var lastUnit = ContinuousClock.now
  }

  private let state: Mutex<State>
  private let arrivals: Mutex<Arrivals>

  /// Must be made on the refresher's queue, so that no event of a member is lost in between.
  init(
    _ composition: Composition, feeds: [Feed], refresher: Refresher, settings: FeedSettings,
    counters: FeedCounters, states: RememberedStates
  ) {
    refresher.queue.preconditionInTurn()
    self.composition = composition
    self.feeds = feeds
    self.refresher = refresher
    self.counters = counters
    self.states = states
    let heads = feeds.map(\.head)
    let shown = zip(composition.members, heads).map { member, head in
      var shown = PresentState.Member(
        MemberName(
          query: member.key.query, arguments: member.key.arguments, window: member.window,
          isAlwaysNamed: composition.isMultiple),
        head.snapshot.cut(to: member.window, number: head.snapshot.number),
        total: member.window.map { _ in head.snapshot.wholeCount })
      shown.failure = head.failure
      return shown
    }
    let version = Self.version(
      of: shown, composition, number: shown.reduce(0) { max($0, $1.snapshot.number) }, refresher)
    log = EventLog(
      settings, counters: counters, version: version, shows: shown.map(\.snapshot),
      of: composition.members.map(\.key), in: states)
    state = Mutex(
      State(
        shown: shown, bases: heads.map(\.snapshot.version), version: version,
        position: log.broadcast.end))
    let behind = refresher.bind(feeds.map(\.controller), to: ObjectIdentifier(log))
    let delayed = feeds.indices.filter { behind.contains(ObjectIdentifier(feeds[$0].controller)) }
    arrivals = Mutex(Arrivals(members: MemberArrivals(delayed: Set(delayed))))
    // Several windows may be of one feed, which tells each owner once.
    membersOfFeeds = Array(
      Dictionary(grouping: feeds.indices, by: { ObjectIdentifier(feeds[$0]) }).values)
    for indices in membersOfFeeds {
      feeds[indices[0]].listen(self) { [weak self] event, rest, _ in
        self?.receive(event, from: indices, rest)
      }
    }
    if delayed.isEmpty { rest() }
  }

  /// Ends the streams and returns the members, which are no longer used.
  func close() -> [Feed] {
    for feed in feeds { feed.stopListening(self) }
    refresher.unbind(feeds.map(\.controller), from: ObjectIdentifier(log))
    log.close()
    return feeds
  }

  /// Whether it shows windows that are live by themselves.
  var hasOwnWindows: Bool { feeds.contains { $0.key.window != nil } }

  var keys: [FeedKey] { composition.members.map(\.key) }
  var sizes: [FeedKey: Int] {
    membersOfFeeds.map { feeds[$0[0]] }.reduce(into: [:]) {
      $0[$1.key.whole, default: 0] += $1.size
    }
  }

  var isUpToDate: Bool {
    state.withLock { state in
      zip(state.bases, feeds).allSatisfy { base, feed in
        feed.rest(of: self) != nil || base == feed.head.snapshot.version
      }
    }
  }

  func late(for commit: Int) -> LiveResult? {
    feeds.lazy.compactMap { $0.late(for: commit) }.first
  }

  var present: PresentState {
    state.withLock { state in
      for indices in membersOfFeeds {
        if let rest = feeds[indices[0]].rest(of: self) { note(rest, of: indices, &state) }
      }
      return PresentState(
        members: state.shown, version: state.version, position: state.position,
        isMultiple: composition.isMultiple)
    }
  }

  /// Of several queries together, or of the only one.
  private static func version(
    of shown: [PresentState.Member], _ composition: Composition, number: Int, _ refresher: Refresher
  ) -> ResultsVersion {
    guard composition.isMultiple else { return shown[0].snapshot.version }
    return .joined(shown.map(\.snapshot.version), number: number, key: refresher.versionKey)
  }

  // MARK: - Events

  private func receive(_ event: LiveResultEvent, from indices: [Int], _ rest: Feed.Rest?) {
    if let rest { state.withLock { note(rest, of: indices, &$0) } }
    if isPassedBy(event, indices) { return self.rest() }
    let delay = arrivals.withLock { arrivals -> Duration? in
      for index in indices { arrivals.members.append(event, from: index) }
      guard !arrivals.isBusy, !arrivals.members.isEmpty else { return nil }
      arrivals.isBusy = true
      let earliest = arrivals.lastUnit + (composition.minimumInterval ?? .zero)
      return max(.zero, earliest - .now)
    }
    if let delay { scheduleCut(after: delay) }
  }

  /// Windows that rested are of the state before what they are told now.
  private func note(_ rest: Feed.Rest, of indices: [Int], _ state: inout State) {
    for index in indices {
      state.bases[index] = rest.version
      state.shown[index].note(total: rest.total)
    }
  }

  /// Leaves it to the feeds to find out which changes touch the windows, until one does.
  ///
  /// On the refresher's queue, where nothing else asks for it at the same time: what is told to all
  /// windows would else have them wait for each other's turn. So a window that was told something is
  /// looked at once more.
  private func rest() {
    refresher.queue.preconditionInTurn()
    let bases = state.withLock(\.bases)
    for indices in membersOfFeeds {
      let windows = indices.compactMap { composition.members[$0].window?.range }
      // Of a window that is live by itself every change is one.
      guard windows.count == indices.count, feeds[indices[0]].key.window == nil else { continue }
      feeds[indices[0]].rest(self, windows, at: bases[indices[0]])
    }
  }

  /// Passes by an event that changes nothing of what the windows show, though it may be near them:
  /// nothing is to be written then.
  ///
  /// O(k) for each window, k changes.
  private func isPassedBy(_ event: LiveResultEvent, _ indices: [Int]) -> Bool {
    guard case .changed(let changes, let old, let new) = event, old.alongside == new.alongside,
      new.total == nil,
      // Then nothing is being written, and nothing begins to be but from this queue.
      arrivals.withLock({ !$0.isBusy && $0.members.isIdle })
    else { return false }
    return state.withLock { state in
      let isPassedBy = indices.allSatisfy { index in
        guard let window = composition.members[index].window, state.bases[index] == old.version,
          state.shown[index].failure == nil
        else { return false }
        return changes.effect(on: window.range)?.isEmpty == true
      }
      if isPassedBy { note(Feed.Rest(new), of: indices, &state) }
      return isPassedBy
    }
  }

  private func scheduleCut(after delay: Duration) {
    // All events of one refresh are told in one piece of work on the queue, so whatever comes
    // behind it sees them all.
    if delay == .zero {
      queue.async { [weak self] in self?.cut() }
    } else {
      queue.async(after: .nanoseconds(Int(delay.wholeNanoseconds))) { [weak self] in self?.cut() }
    }
  }

  /// What has come so far is of whole refreshes.
  private func cut() {
    let news = arrivals.withLock { $0.members.take() }
    writing.async { [weak self] in self?.write(news) }
  }

  private func write(_ news: [Int: MemberNews]) {
    dispatchPrecondition(condition: .onQueue(writing))
    defer { goOn() }
    // Streams that begin meanwhile begin with what is shown until then.
    var (shown, bases) = state.withLock { ($0.shown, $0.bases) }
    var unit = Unit()
    for (index, news) in news.sorted(by: { $0.key < $1.key }) {
      write(news, of: index, &shown[index], &bases[index], &unit)
    }
    state.withLock { state in
      (state.shown, state.bases) = (shown, bases)
      guard !unit.isEmpty else { return }
      if let commit = unit.commit {
        state.version = Self.version(
          of: shown, composition, number: state.version.number + 1, refresher)
        if composition.isMultiple {
          unit.append(ChangeEvents.commit(commit, id: state.version.description), count: 1)
        }
        append(unit, state)
      } else {
        log.append(unit.bytes, count: unit.count)
      }
      state.position = log.broadcast.end
      for index in unit.leaps { state.shown[index].leap = state.position }
    }
  }

  /// What came while the last news were written waits for the interval as well.
  private func goOn() {
    let delay = arrivals.withLock { arrivals -> Duration? in
      arrivals.lastUnit = .now
      arrivals.isBusy = !arrivals.members.isEmpty
      return arrivals.isBusy ? composition.minimumInterval ?? .zero : nil
    }
    if let delay { scheduleCut(after: delay) }
  }

  private func append(_ unit: Unit, _ state: State) {
    let version = state.version
    let shows = state.shown.map(\.snapshot)
    if unit.isReset {
      log.restart(
        with: unit.isTooLarge ? nil : unit.bytes, version: version, shows: shows)
    } else if unit.isTooLarge {
      log.leap(version: version, shows: shows, changes: unit.changes)
    } else {
      log.append(
        unit.bytes, count: unit.count, version: version, shows: shows, changes: unit.changes)
    }
  }

  /// What is written into the log together.
  private struct Unit {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    var changes = 0
    /// Joined commits are known by the last of them, whichever query it changed; nil where none
    /// has changed anything.
    private(set) var commit: Int?
    /// Whether a member has a new shape, so that nothing leads on from the states before.
    var isReset = false
    /// The members that changed so much that a snapshot is shorter.
    var leaps: [Int] = []
    /// Whether a snapshot is missing that each stream makes in pieces, together with all others.
    private(set) var isTooLarge = false

    var isEmpty: Bool { bytes.isEmpty && !isTooLarge }

    mutating func append(_ bytes: [UInt8], count: Int) {
      self.bytes += bytes
      self.count += count
    }

    mutating func append(_ snapshot: SnapshotEvent) {
      if let bytes = snapshot.whole(atMost: EventLog.largestSnapshot) {
        append(bytes, count: 1)
      } else {
        isTooLarge = true
      }
    }

    mutating func note(commit: Int) { self.commit = max(self.commit ?? commit, commit) }
  }

  /// Writes what happened to one member.
  private func write(
    _ news: MemberNews, of index: Int, _ shown: inout PresentState.Member,
    _ base: inout ResultsVersion, _ unit: inout Unit
  ) {
    let (before, hadFailure) = (shown.snapshot.version, shown.failure != nil)
    if let latest = news.latest {
      // What the refresh told leads from another state where this stream was told less or more.
      let told = news.changes.flatMap { $0.from == base ? $0.set : nil }
      base = latest.version
      write(latest, told, of: index, &shown, &unit)
    }
    shown.failure = news.failure
    if let failure = news.failure {
      unit.append(ChangeEvents.failure(failure, member: shown.name), count: 1)
    } else if hadFailure, shown.snapshot.version == before {
      unit.append(ChangeEvents.recovery(shown.snapshot, member: shown.name), count: 1)
    }
  }

  /// Writes what brings the streams to the last good state, by one change set where it alone led
  /// there; `told` is that of the whole result.
  private func write(
    _ latest: ResultsSnapshot, _ told: ChangeSet?, of index: Int,
    _ shown: inout PresentState.Member, _ unit: inout Unit
  ) {
    let window = composition.members[index].window
    let old = shown.snapshot
    let isCut = window != nil && latest.total == nil
    let effect = isCut ? window.flatMap { told?.effect(on: $0.range) } : nil
    if effect?.isEmpty == true, latest.alongside == old.alongside {
      return shown.note(total: latest.wholeCount)
    }
    let total = window.map { _ in latest.wholeCount }
    let isSameShape = latest.results.layout == old.results.layout
    let new = latest.cut(to: window, number: old.number + 1)
    let id = composition.isMultiple ? nil : new.version.description
    guard isSameShape else {
      shown.show(new, total: total)
      unit.append(shown.event(id: id))
      unit.note(commit: new.commit)
      unit.isReset = true
      return
    }
    let known =
      !isCut ? told : effect.flatMap { $0.changes(from: old.results, to: new.results) }
    let changes = known ?? new.results.changes(from: old.results)
    if changes.isEmpty, new.alongside == old.alongside {
      // What the streams know stays as it is, but the next difference starts from the new values.
      shown.show(new.with(new.results, number: old.number), total: total)
      return
    }
    shown.show(new, total: total)
    var events = ChangeEvents(member: shown.name, givesIDs: !composition.isMultiple)
    if events.append(changes, from: old, to: new, total: total, unlessLongerThan: shown.size) {
      unit.append(events.bytes, count: events.count)
    } else {
      unit.append(shown.event(id: id))
      unit.leaps.append(index)
    }
    unit.changes += changes.count
    unit.note(commit: new.commit)
  }
}

extension ResultsSnapshot {
  /// The window's own state, under the window's own number; without a window the state itself.
  fileprivate func cut(to window: Window?, number: Int) -> ResultsSnapshot {
    guard let window else { return self }
    return with(total == nil ? window.results(of: results) : results, number: number)
  }

  /// The records of the whole result.
  fileprivate var wholeCount: Int { total ?? results.count }
}
