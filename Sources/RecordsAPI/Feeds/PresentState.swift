import FetchedRecords
import HTTPServer
import OrderedResults

/// What a feed shows at one moment.
struct PresentState: Sendable {
  /// One query of the feed.
  struct Source: Sendable {
    let name: EventSourceName
    private(set) var snapshot: ResultsSnapshot
    /// The records of the whole result, where the snapshot is a window's.
    private(set) var total: Int?
    /// Of the snapshot's event.
    private(set) var size: SnapshotSize
    var failure: FetchFailure?
    /// Where the last change ends in the log that was told with a snapshot, because that is shorter:
    /// from before it, no other way is looked for.
    var leap: Broadcast.Position?

    init(_ name: EventSourceName, _ snapshot: ResultsSnapshot, total: Int? = nil) {
      self.name = name
      self.snapshot = snapshot
      self.total = total
      size = SnapshotSize(SnapshotEvent(snapshot: snapshot, source: name, total: total, id: nil))
    }

    mutating func show(_ snapshot: ResultsSnapshot, total: Int? = nil) {
      let last = self
      self = Self(name, snapshot, total: total)
      (failure, leap) = (last.failure, last.leap)
    }

    /// The whole result has another number of records, and the window shows what it has shown.
    mutating func note(total: Int) {
      if total != self.total { show(snapshot, total: total) }
    }

    /// The snapshot as an event; `id` is what the stream can be resumed from, if it can there.
    func event(id: String?) -> SnapshotEvent {
      SnapshotEvent(snapshot: snapshot, source: name, total: total, id: id)
    }
  }

  let sources: [Source]
  /// Of the feed as a whole.
  let version: String
  let position: Broadcast.Position
  /// Whether it is asked for as several queries, whose change sets carry no id.
  let isMultiple: Bool

  /// Whether so many bytes are more than the snapshots and a tenth.
  func isExceeded(by bytes: Int) -> Bool { sources.map(\.size).areExceeded(by: bytes) }

  /// Of every source.
  var snapshots: [EventPieces] { snapshots(known: []) }

  /// Those of the sources that the client does not know as they are.
  func snapshots(known: [String?]) -> [EventPieces] {
    let wanted = sources.indices.filter { index in
      let version = known.indices.contains(index) ? known[index] : nil
      return version != sources[index].snapshot.version.description
    }
    return wanted.map { index in
      let source = sources[index]
      let id =
        isMultiple ? (index == wanted.last ? version : nil) : source.snapshot.version.description
      return .snapshot(source.event(id: id))
    }
  }

  /// What keeps sources from being shown.
  var failures: [EventPieces] {
    sources.compactMap { source in
      source.failure.map { .bytes(ChangeEvents.failure($0, source: source.name)) }
    }
  }
}

extension PresentState {
  /// What leads from an earlier state to the present one.
  struct Advance {
    fileprivate(set) var pieces: [EventPieces] = []
    fileprivate(set) var kind = FeedCounters.Resumption.log

    fileprivate mutating func append(_ piece: EventPieces) {
      pieces.append(piece)
      if case .changes = piece { kind = .joined } else if kind == .log { kind = .snapshot }
    }
  }

  /// The least that leads here from a state, without what came between: for each query that changed
  /// one change set, or its snapshot where the change set is longer than that and a tenth.
  ///
  /// Costs what ``Results/changes(from:)`` does for each query that changed, and the writing of the
  /// shorter of the two.
  ///
  /// - Parameters:
  ///   - state: what a client knows.
  ///   - limit: nil: whatever it takes.
  /// - Returns: Nil where that are not fewer bytes than `limit`.
  func advance(from state: RememberedState, below limit: Int? = nil) -> Advance? {
    var advance = Advance()
    var left = limit
    for (source, old) in zip(sources, state.snapshots)
    where source.snapshot.version != old.version {
      let (piece, bytes) = step(source, from: old, at: state.position, below: left)
      left = left.map { $0 - bytes }
      if let left, left <= 0 { return nil }
      advance.append(piece)
    }
    if isMultiple, state.version != version {
      let commit = sources.map(\.snapshot.commit).max() ?? 0
      advance.pieces.append(.bytes(ChangeEvents.commit(commit, id: version)))
    }
    return advance
  }

  /// What leads one source on, and its bytes as far as a limit makes them matter.
  private func step(
    _ source: Source, from old: ResultsSnapshot, at position: Broadcast.Position,
    below limit: Int?
  ) -> (EventPieces, bytes: Int) {
    if source.leap.map({ position >= $0 }) ?? true,
      let changes = source.changes(since: old, below: limit, givesIDs: !isMultiple),
      let bytes = changes.bytes(unlessLongerThan: source.size, below: limit)
    {
      return (.changes(changes), bytes)
    }
    let id = isMultiple ? nil : source.snapshot.version.description
    return (.snapshot(source.event(id: id)), limit.map { source.size.bytes(upTo: $0) } ?? 0)
  }
}

extension PresentState.Source {
  /// The change set from an earlier state.
  ///
  /// Nil where it would be too long, where nothing but the version differs, or where the records
  /// have another shape.
  fileprivate func changes(
    since old: ResultsSnapshot, below limit: Int?, givesIDs: Bool
  ) -> ChangeSetPieces? {
    guard snapshot.results.layout == old.results.layout else { return nil }
    // Each record that one has more is a change: known before the difference is worked out.
    let least =
      abs(snapshot.results.count - old.results.count) * ChangeSetPieces.leastOfAChange
    guard least < limit ?? .max, !size.isExceeded(by: least) else { return nil }
    let changes = snapshot.results.changes(from: old.results)
    if changes.isEmpty, snapshot.alongside == old.alongside { return nil }
    return ChangeSetPieces(
      changes, from: old, to: snapshot, total: total, source: name, givesIDs: givesIDs)
  }
}
