import FetchedRecords
import HTTPServer
import OrderedResults
import Synchronization

/// What streams can show: a log of events, and what it has come to.
protocol StreamableFeed: AnyObject, Sendable {
  var log: EventLog { get }
  var counters: FeedCounters { get }
  /// What the feed shows now, and where its events end in the log.
  var present: PresentState { get }
}

/// What a feed shows at one moment.
struct PresentState: Sendable {
  /// One query of the feed.
  struct Source: Sendable {
    let name: EventSourceName
    let snapshot: ResultsSnapshot
    /// The records of the whole result, where the snapshot is a window's.
    var total: Int?
    var failure: FetchFailure?
  }

  let sources: [Source]
  /// Of the feed as a whole.
  let version: String
  let position: Broadcast.Position
  /// Whether it is asked for as several queries, whose change sets carry no id.
  let isMultiple: Bool
}

/// How a client wants its stream to begin.
struct StreamOpening: Sendable {
  /// The version to continue after.
  let lastEventID: String?
  let wantsSnapshot: Bool
  /// For each of several queries the version that the client has already: it needs no snapshot.
  let known: [String?]

  init(lastEventID: String?, wantsSnapshot: Bool, known: [String?] = []) {
    self.lastEventID = lastEventID
    self.wantsSnapshot = wantsSnapshot
    // A stream that resumes may have gone on since its URL was made.
    self.known = lastEventID == nil ? known : []
  }
}

extension StreamableFeed {
  /// What a stream is sent before the log, and from where it follows the log: the log's own bytes
  /// since the client's version where the log still has them, else one change set where the state
  /// is remembered, and else snapshots. Nothing is skipped silently. What fails is told behind
  /// that: a stream begins with its snapshot.
  func beginning(_ opening: StreamOpening) -> StreamBeginning {
    let retry = EventPieces.bytes(Retry.line())
    guard let lastEventID = opening.lastEventID else {
      let present = present
      return StreamBeginning(
        [retry] + (opening.wantsSnapshot ? present.snapshots(known: opening.known) : [])
          + present.failures,
        present.position)
    }
    let known = log.continuation(after: lastEventID)
    let present = present
    if let state = known.state,
      let changes = present.changes(since: state, atMost: known.events.map { $0.changes / 2 })
    {
      counters.note(.joined)
      return StreamBeginning([retry] + changes + present.failures, present.position)
    }
    if let events = known.events {
      counters.note(.log)
      return StreamBeginning([retry], events.position)
    }
    counters.note(.snapshot)
    return StreamBeginning([retry] + present.snapshots + present.failures, present.position)
  }

  /// How a stream goes on whose reader stopped at a position that has left the log.
  func resumption(after position: Broadcast.Position) -> StreamBody.Resumption {
    let state = log.state(at: position)
    let present = present
    let changes = state.flatMap { present.changes(since: $0) }
    counters.note(changes == nil ? .snapshot : .joined)
    return StreamBeginning(
      (changes ?? present.snapshots) + present.failures, present.position
    ).resumption
  }
}

extension PresentState {
  fileprivate var snapshots: [EventPieces] { snapshots(known: []) }

  /// Those of the sources that the client does not know as they are.
  fileprivate func snapshots(known: [String?]) -> [EventPieces] {
    let wanted = sources.indices.filter { index in
      let version = known.indices.contains(index) ? known[index] : nil
      return version != sources[index].snapshot.version.description
    }
    return wanted.map { index in
      let source = sources[index]
      let id =
        isMultiple ? (index == wanted.last ? version : nil) : source.snapshot.version.description
      return .snapshot(
        SnapshotEvent(
          snapshot: source.snapshot, source: source.name, total: source.total, id: id))
    }
  }

  fileprivate var failures: [EventPieces] {
    sources.compactMap { source in
      source.failure.map { .bytes(ChangeEvents.failure($0, source: source.name)) }
    }
  }

  /// What leads from a state to this one, in one change set for each query.
  ///
  /// Nil where a snapshot is shorter, where there are more changes than `limit`, where nothing but
  /// the version differs, or where the records have another shape. Cost: that of
  /// ``Results/changes(from:)`` for each query that changed.
  fileprivate func changes(
    since state: RememberedState, atMost limit: Int? = nil
  ) -> [EventPieces]? {
    if let limit, limit < 1 { return nil }
    var pieces: [EventPieces] = []
    var count = 0
    for (source, old) in zip(sources, state.snapshots)
    where source.snapshot.version != old.version {
      let new = source.snapshot
      guard new.results.layout == old.results.layout else { return nil }
      // Each record that one has more is a change: known before the difference is worked out.
      let least = abs(new.results.count - old.results.count)
      guard count + least <= limit ?? .max, least <= max(new.results.count, 1) else { return nil }
      let changes = new.results.changes(from: old.results)
      count += changes.count
      if changes.isEmpty, new.alongside == old.alongside { return nil }
      guard changes.count <= max(new.results.count, 1) else { return nil }
      pieces.append(
        .changes(
          ChangeSetPieces(
            changes, from: old, to: new, total: source.total, source: source.name,
            givesIDs: !isMultiple)))
    }
    guard !pieces.isEmpty, count <= limit ?? .max else { return nil }
    if isMultiple {
      let commit = sources.map(\.snapshot.commit).max() ?? 0
      pieces.append(.bytes(ChangeEvents.commit(commit, id: version)))
    }
    return pieces
  }
}

/// When a client comes back to a stream that broke.
enum Retry {
  /// A `retry:` field of one to three seconds: clients whose streams broke together come back one
  /// by one.
  static func line() -> [UInt8] {
    Array("retry: \(Int.random(in: 1000...3000))\n\n".utf8)
  }
}

/// What a stream sends before it follows its log, and from where it follows it.
struct StreamBeginning: Sendable {
  let prefix: StreamBody.Source
  let position: Broadcast.Position

  init(_ pieces: [EventPieces], _ position: Broadcast.Position) {
    self.position = position
    let rest = Mutex(pieces[...])
    prefix = {
      rest.withLock { rest in
        while let index = rest.indices.first {
          if let piece = rest[index].next() { return piece }
          rest.removeFirst()
        }
        return nil
      }
    }
  }

  var resumption: StreamBody.Resumption {
    StreamBody.Resumption(prefix: prefix, position: position)
  }
}
