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
  private let queue: DispatchQueue
  private let feeds: [Feed]

  /// One source as the streams know it.
  private struct Shown {
    let name: EventSourceName
    var snapshot: ResultsSnapshot
    /// The version of the source that the snapshot was made of.
    var sourceVersion: ResultsVersion
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
  init(_ composition: Composition, feeds: [Feed], queue: DispatchQueue, logCapacity: Int) {
    dispatchPrecondition(condition: .onQueue(queue))
    self.composition = composition
    self.feeds = feeds
    self.queue = queue
    let version = ResultsVersion.fresh()
    let shown = zip(composition.sources, feeds).map { source, feed in
      let head = feed.head
      return Shown(
        name: EventSourceName(
          query: source.key.query, arguments: source.key.arguments, window: source.window,
          isAlwaysNamed: composition.isMultiple),
        snapshot: head.snapshot.cut(to: source.window, version: .fresh()),
        sourceVersion: head.snapshot.version,
        total: source.window.map { _ in head.snapshot.results.count }, failure: head.failure)
    }
    let id = composition.isMultiple ? version : shown[0].snapshot.version
    log = EventLog(capacity: logCapacity, version: id.description)
    state = Mutex(State(shown: shown, version: version, position: log.broadcast.end))
    // Several windows may be of one feed, which tells each owner once.
    for indices in Dictionary(grouping: feeds.indices, by: { ObjectIdentifier(feeds[$0]) }).values {
      feeds[indices[0]].listen(self) { [weak self] event in
        for index in indices { self?.receive(event, from: index) }
      }
    }
  }

  /// Ends the streams and returns the sources, which are no longer used.
  func close() -> [Feed] {
    for feed in feeds { feed.stopListening(self) }
    log.broadcast.close()
    return feeds
  }

  /// What a stream is sent before the log, and from where it follows the log.
  func beginning(_ opening: StreamOpening) -> StreamBeginning {
    opening.beginning(of: log) {
      state.withLock { state in
        let snapshots = state.shown.enumerated().map { index, shown in
          let isLast = index == state.shown.count - 1
          return SnapshotEvent(
            snapshot: present(shown, of: feeds[index]), source: shown.name, total: shown.total,
            id: composition.isMultiple
              ? (isLast ? state.version.description : nil) : shown.snapshot.version.description)
        }
        return StreamOpening.Present(
          snapshots: snapshots,
          failures: state.shown.compactMap { shown in
            shown.failure.map { ChangeEvents.failure($0, source: shown.name) }
          }, position: state.position)
      }
    }
  }

  /// What is shown, with what now stands alongside: it may change while the records do not.
  private func present(_ shown: Shown, of feed: Feed) -> ResultsSnapshot {
    let source = feed.presentHead.snapshot
    return source.version == shown.sourceVersion
      ? shown.snapshot.dated(like: source) : shown.snapshot
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
      var unit: [UInt8] = []
      var commit: Int?
      for index in state.shown.indices {
        if let news = write(&state.shown[index], window: composition.sources[index].window, &unit) {
          // Joined commits are known by the last of them, whichever query it changed.
          commit = max(commit ?? news, news)
        }
      }
      guard !unit.isEmpty else { return }
      if let commit, composition.isMultiple {
        state.version = state.version.next
        unit += ChangeEvents.commit(commit, id: state.version.description)
        log.append(unit, version: state.version.description)
      } else {
        log.append(unit, version: commit.map { _ in state.shown[0].snapshot.version.description })
      }
      state.position = log.broadcast.end
    }
  }

  /// Writes what happened to one source; returns the commit that changed it, if one did.
  private func write(_ shown: inout Shown, window: Window?, _ unit: inout [UInt8]) -> Int? {
    let news = shown.news
    shown.news = []
    guard let last = news.last else { return nil }
    let commit = writeChanges(news, of: &shown, window: window, &unit)
    if case .failed(let failure) = last {
      shown.failure = failure
      unit += ChangeEvents.failure(failure, source: shown.name)
    } else {
      shown.failure = nil
    }
    return commit
  }

  /// Writes what brings the streams to the last good state among `news`, if there is one.
  private func writeChanges(
    _ news: [ControllerEvent], of shown: inout Shown, window: Window?, _ unit: inout [UInt8]
  ) -> Int? {
    guard let latest = news.lastSnapshot else { return nil }
    let old = shown.snapshot
    shown.sourceVersion = latest.version
    let total = window.map { _ in latest.results.count }
    shown.total = total
    let isSameShape = latest.results.layout == old.results.layout
    let new = latest.cut(to: window, version: isSameShape ? old.version.next : .fresh())
    guard isSameShape else {
      shown.snapshot = new
      unit += SnapshotEvent(
        snapshot: new, source: shown.name, total: total,
        id: composition.isMultiple ? nil : new.version.description
      ).whole()
      return new.commit
    }
    let changes = news.onlyChanges(window: window) ?? new.results.changes(from: old.results)
    if changes.isEmpty {
      // What the streams know stays as it is, but the next difference starts from the new values.
      shown.snapshot = new.renamed(old.version)
      return nil
    }
    shown.snapshot = new
    var events = ChangeEvents(source: shown.name, givesIDs: !composition.isMultiple)
    events.append(changes, from: old, to: new, total: total)
    unit += events.bytes
    return new.commit
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

  /// The same records as of another state of the database.
  fileprivate func dated(like other: ResultsSnapshot) -> ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: results, version: version, commit: other.commit,
      alongside: other.alongside)
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
