import Dispatch
import FetchedRecords
import HTTPServer
import OrderedResults
import Synchronization

/// A feed made of others: of several queries, of a window, or with change sets joined to a pace.
///
/// When a source changes, the difference from what was last sent to what it shows now becomes one
/// change set. All sources that a refresh changed come together.
final class ComposedFeed: StreamableFeed {
  let composition: Composition
  let log: EventLog
  let counters: FeedCounters
  private let queue: DispatchQueue
  private let feeds: [Feed]

  /// One source as the streams know it.
  private struct Shown {
    let name: EventSourceName
    var snapshot: ResultsSnapshot
    var total: Int?
    /// What happened since, in order.
    var news: [ControllerEvent] = []
    var failure: FetchFailure?
  }

  private struct State {
    var shown: [Shown]
    var version: ResultsVersion
    var position: Broadcast.Position
    var isFlushScheduled = false
    var lastFlush = ContinuousClock.now
  }

  private let state: Mutex<State>

  /// Must be made on the refresher's queue, so that no event of a source is lost in between.
  init(
    _ composition: Composition, feeds: [Feed], queue: DispatchQueue, settings: FeedSettings,
    counters: FeedCounters
  ) {
    dispatchPrecondition(condition: .onQueue(queue))
    self.composition = composition
    self.feeds = feeds
    self.queue = queue
    self.counters = counters
    let version = ResultsVersion.fresh()
    let shown = zip(composition.sources, feeds).map { source, feed in
      let head = feed.head
      return Shown(
        name: EventSourceName(
          query: source.key.query, arguments: source.key.arguments,
          isAlwaysNamed: composition.isMultiple),
        snapshot: head.snapshot.cut(to: source.window, version: .fresh()),
        total: source.window.map { _ in head.snapshot.results.count }, failure: head.failure)
    }
    let id = composition.isMultiple ? version : shown[0].snapshot.version
    log = EventLog(
      settings, counters: counters, version: id.description, shows: shown.map(\.snapshot))
    state = Mutex(State(shown: shown, version: version, position: log.broadcast.end))
    for (index, feed) in feeds.enumerated() {
      feed.listen(self) { [weak self] event in self?.receive(event, from: index) }
    }
  }

  /// Ends the streams and returns the sources, which are no longer used.
  func close() -> [Feed] {
    for feed in feeds { feed.stopListening(self) }
    log.broadcast.close()
    return feeds
  }

  var present: PresentState {
    state.withLock { state in
      PresentState(
        sources: state.shown.map { shown in
          PresentState.Source(
            name: shown.name, snapshot: shown.snapshot, total: shown.total, failure: shown.failure)
        },
        version: version(of: state), position: state.position,
        isMultiple: composition.isMultiple)
    }
  }

  /// Of several queries together, or of the only one.
  private func version(of state: State) -> String {
    (composition.isMultiple ? state.version : state.shown[0].snapshot.version).description
  }

  // MARK: - Events

  private func receive(_ event: ControllerEvent, from index: Int) {
    let delay = state.withLock { state -> Duration? in
      state.shown[index].news.append(event)
      guard !state.isFlushScheduled else { return nil }
      state.isFlushScheduled = true
      let earliest = state.lastFlush + (composition.minimumInterval ?? .zero)
      return max(.zero, earliest - .now)
    }
    guard let delay else { return }
    // All events of one refresh are told in one piece of work on the queue, so whatever comes
    // behind it sees them all.
    if delay == .zero {
      queue.async { [weak self] in self?.flush() }
    } else {
      queue.asyncAfter(deadline: .now() + delay.timeInterval) { [weak self] in self?.flush() }
    }
  }

  private func flush() {
    state.withLock { state in
      state.isFlushScheduled = false
      state.lastFlush = .now
      var unit = Unit()
      for index in state.shown.indices {
        write(&state.shown[index], window: composition.sources[index].window, &unit)
      }
      guard !unit.bytes.isEmpty else { return }
      if let commit = unit.commit {
        if composition.isMultiple {
          state.version = state.version.next
          let version = state.version.description
          unit.append(ChangeEvents.commit(commit, id: version), count: 1)
        }
        append(unit, state)
      } else {
        log.append(unit.bytes, count: unit.count)
      }
      state.position = log.broadcast.end
    }
  }

  private func append(_ unit: Unit, _ state: State) {
    let version = version(of: state)
    let shows = state.shown.map(\.snapshot)
    if unit.isReset {
      log.restart(with: unit.bytes, version: version, shows: shows)
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
    /// Whether there is a snapshot among the events.
    var isReset = false

    mutating func append(_ bytes: [UInt8], count: Int) {
      self.bytes += bytes
      self.count += count
    }

    mutating func note(commit: Int) { self.commit = max(self.commit ?? commit, commit) }
  }

  /// Writes what happened to one source.
  private func write(_ shown: inout Shown, window: Window?, _ unit: inout Unit) {
    let news = shown.news
    shown.news = []
    guard let last = news.last else { return }
    writeChanges(news, of: &shown, window: window, &unit)
    if case .failed(let failure) = last {
      shown.failure = failure
      unit.append(ChangeEvents.failure(failure, source: shown.name), count: 1)
    } else {
      shown.failure = nil
    }
  }

  /// Writes what brings the streams to the last good state among `news`, if there is one.
  private func writeChanges(
    _ news: [ControllerEvent], of shown: inout Shown, window: Window?, _ unit: inout Unit
  ) {
    guard let latest = news.lastSnapshot else { return }
    let old = shown.snapshot
    shown.total = window.map { _ in latest.results.count }
    let isSameShape = latest.results.layout == old.results.layout
    let new = latest.cut(to: window, version: isSameShape ? old.version.next : .fresh())
    guard isSameShape else {
      shown.snapshot = new
      let event = SnapshotEvent(
        snapshot: new, source: shown.name, total: shown.total,
        id: composition.isMultiple ? nil : new.version.description)
      unit.append(event.whole(), count: 1)
      unit.note(commit: new.commit)
      unit.isReset = true
      return
    }
    let changes = news.onlyChanges(window: window) ?? new.results.changes(from: old.results)
    if changes.isEmpty, new.alongside == old.alongside {
      // What the streams know stays as it is, but the next difference starts from the new values.
      shown.snapshot = new.renamed(old.version)
      return
    }
    shown.snapshot = new
    var events = ChangeEvents(source: shown.name, givesIDs: !composition.isMultiple)
    events.append(changes, from: old, to: new, total: shown.total)
    unit.append(events.bytes, count: events.count)
    unit.changes += changes.count
    unit.note(commit: new.commit)
  }
}

extension [ControllerEvent] {
  /// The last state among the events.
  fileprivate var lastSnapshot: ResultsSnapshot? {
    lazy.reversed().compactMap { event in
      switch event {
      case .changed(_, _, let new): new
      case .reset(let snapshot): snapshot
      case .failed, .recovered: nil
      }
    }.first
  }

  /// The change set of the only event, which then need not be worked out again.
  fileprivate func onlyChanges(window: Window?) -> ChangeSet? {
    guard window == nil, count == 1, case .changed(let changes, _, _) = self[0] else { return nil }
    return changes
  }
}

extension ResultsSnapshot {
  /// The window's own state, under the window's own version; without a window the state itself.
  fileprivate func cut(to window: Window?, version: ResultsVersion) -> ResultsSnapshot {
    guard let window else { return self }
    return ResultsSnapshot(
      query: query, results: window.results(of: results), version: version, commit: commit,
      alongside: alongside)
  }

  fileprivate func renamed(_ version: ResultsVersion) -> ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: results, version: version, commit: commit, alongside: alongside)
  }
}

extension Duration {
  fileprivate var timeInterval: DispatchTimeInterval {
    .nanoseconds(
      Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000))
  }
}
