import FetchedRecords
import HTTPServer
import OrderedResults

/// What a feed shows at one moment.
struct PresentState: Sendable {
  /// One query of the feed.
  struct Member: Sendable {
    let name: MemberName
    private(set) var snapshot: ResultsSnapshot
    /// The records of the whole result, where the snapshot is a window's.
    private(set) var total: Int?
    /// Of the snapshot's event.
    private(set) var size: SnapshotSize
    var failure: FetchFailure?
    /// Where the last change ends in the log that was told with a snapshot, because that is shorter:
    /// from before it, no other way is looked for.
    var leap: Broadcast.Position?

    init(_ name: MemberName, _ snapshot: ResultsSnapshot, total: Int? = nil) {
      self.name = name
      self.snapshot = snapshot
      self.total = total
      size = SnapshotSize(SnapshotEvent(snapshot: snapshot, member: name, total: total, id: nil))
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
      SnapshotEvent(snapshot: snapshot, member: name, total: total, id: id)
    }
  }

  let members: [Member]
  /// Of the feed as a whole.
  let version: ResultsVersion
  let position: Broadcast.Position
  /// Whether it is asked for as several queries, whose change sets carry no id.
  let isMultiple: Bool

  /// Whether so many bytes are more than the snapshots and a tenth.
  func isExceeded(by bytes: Int) -> Bool { members.map(\.size).areExceeded(by: bytes) }

  /// Of all members.
  var numberOfRecords: Int { members.reduce(0) { $0 + $1.snapshot.results.count } }

  /// Of every member.
  var snapshots: [EventPieces] { beginning(after: []) { _, _ in nil } }

  /// What leads a client here who has these versions of the members; nothing of those that it has as
  /// they are.
  ///
  /// - Parameters:
  ///   - known: of each member, as far as it goes.
  ///   - remembered: what is remembered of the member at an index, at a version that is not its own.
  /// - Returns: the events, in pieces.
  func beginning(
    after known: [String?], _ remembered: (_ index: Int, _ version: String) -> ResultsSnapshot?
  ) -> [EventPieces] {
    var snapshots: [Int] = []
    var changes: [EventPieces] = []
    for (index, member) in members.enumerated() {
      let version = known.indices.contains(index) ? known[index] : nil
      if let version, member.snapshot.version.names(version) { continue }
      if let old = version.flatMap({ remembered(index, $0) }),
        case (.changes(let pieces), _) = step(member, from: old, at: nil, below: nil)
      {
        changes.append(.changes(pieces))
      } else {
        snapshots.append(index)
      }
    }
    guard isMultiple else {
      return snapshots.map { snapshot(of: $0, id: members[$0].snapshot.version) } + changes
    }
    let last = changes.isEmpty ? snapshots.last : nil
    let first = snapshots.map { snapshot(of: $0, id: $0 == last ? version : nil) }
    return changes.isEmpty ? first : first + changes + [commit]
  }

  private func snapshot(of index: Int, id: ResultsVersion?) -> EventPieces {
    .snapshot(members[index].event(id: id?.description))
  }

  /// What ends the change sets of several queries.
  private var commit: EventPieces {
    let commit = members.reduce(0) { max($0, $1.snapshot.commit) }
    return .bytes(ChangeEvents.commit(commit, id: version.description))
  }

  /// That what was told of the first member's query, which could not be shown, is over.
  var recovery: EventPieces {
    .bytes(ChangeEvents.recovery(members[0].snapshot, member: members[0].name))
  }

  /// What keeps members from being shown.
  var failures: [EventPieces] {
    members.compactMap { member in
      member.failure.map { .bytes(ChangeEvents.failure($0, member: member.name)) }
    }
  }
}

extension PresentState {
  /// The same as of a commit that changed nothing of it, for somebody who has seen that one.
  func notBefore(_ commit: Int) -> PresentState {
    let members = members.map { member in
      guard member.snapshot.commit < commit else { return member }
      var member = member
      member.show(member.snapshot.notBefore(commit), total: member.total)
      return member
    }
    return PresentState(
      members: members, version: version, position: position, isMultiple: isMultiple)
  }

  /// What leads from an earlier state to the present one.
  struct Advance {
    fileprivate(set) var pieces: [EventPieces] = []
    fileprivate(set) var kind = FeedCounters.Resumption.log
    /// Whether what is shown is the same.
    fileprivate(set) var showsNothing = true

    fileprivate mutating func append(_ piece: EventPieces) {
      pieces.append(piece)
      showsNothing = false
      if case .changes = piece { kind = .joined } else if kind == .log { kind = .snapshot }
    }
  }

  /// The least that leads here from a state, without what came between: for each query that changed
  /// one change set, or its snapshot where the change set is longer than that and a tenth. What is the
  /// same and has another number is called by that from here on: versions chain (`protocol.md` §4).
  ///
  /// Costs what ``Results/changes(from:)`` does for each query that changed, and the writing of the
  /// shorter of the two.
  ///
  /// - Parameters:
  ///   - state: what a client knows.
  ///   - isOwn: whether this feed showed that, and not another one.
  ///   - limit: nil: whatever it takes.
  /// - Returns: Nil where that are not fewer bytes than `limit`.
  func advance(
    from state: RememberedState, isOwn: Bool = true, below limit: Int? = nil
  ) -> Advance? {
    var advance = Advance()
    var left = limit
    for (member, old) in zip(members, state.snapshots)
    where member.snapshot.version != old.version {
      if member.snapshot.version.state == old.version.state {
        advance.pieces.append(renaming(member, from: old))
        continue
      }
      let (piece, bytes) = step(member, from: old, at: isOwn ? state.position : nil, below: left)
      left = left.map { $0 - bytes }
      if let left, left <= 0 { return nil }
      advance.append(piece)
    }
    if isMultiple, !advance.pieces.isEmpty { advance.pieces.append(commit) }
    return advance
  }

  /// On a stream of several queries, whose versions are not its own, a change set of nothing.
  private func renaming(_ member: Member, from old: ResultsSnapshot) -> EventPieces {
    guard isMultiple else { return .name(member.snapshot.version) }
    return .changes(
      ChangeSetPieces(
        changes: ChangeSet(), old: old, new: member.snapshot, total: member.total,
        member: member.name, givesIDs: false))
  }

  /// What leads one member on, and its bytes as far as a limit makes them matter; `position` is that of
  /// the old state in this log, and nil where it is of another one.
  private func step(
    _ member: Member, from old: ResultsSnapshot, at position: Broadcast.Position?,
    below limit: Int?
  ) -> (EventPieces, bytes: Int) {
    let hasLeapt = member.leap.flatMap { leap in position.map { $0 < leap } } ?? false
    if !hasLeapt,
      let changes = member.changes(since: old, below: limit, givesIDs: !isMultiple),
      let bytes = changes.bytes(unlessLongerThan: member.size, below: limit)
    {
      return (.changes(changes), bytes)
    }
    let id = isMultiple ? nil : member.snapshot.version.description
    return (.snapshot(member.event(id: id)), limit.map { member.size.bytes(upTo: $0) } ?? 0)
  }
}

extension PresentState.Member {
  /// The change set from an earlier state.
  ///
  /// Nil where it would be too long, where nothing but the version differs, or where the records
  /// show other columns or another key. What is hidden may differ: another order has other terms.
  fileprivate func changes(
    since old: ResultsSnapshot, below limit: Int?, givesIDs: Bool
  ) -> ChangeSetPieces? {
    let (layout, oldLayout) = (snapshot.results.layout, old.results.layout)
    guard layout.columns == oldLayout.columns, layout.keyNames == oldLayout.keyNames,
      (layout.key == nil) == (oldLayout.key == nil), layout.types == oldLayout.types
    else { return nil }
    // Each record that one has more is a change: known before the difference is worked out.
    let least =
      abs(snapshot.results.count - old.results.count) * ChangeSetPieces.leastOfAChange
    guard least < limit ?? .max, !size.isExceeded(by: least) else { return nil }
    let changes = snapshot.results.changesAcrossLayouts(from: old.results)
    if changes.isEmpty, snapshot.alongside == old.alongside { return nil }
    return ChangeSetPieces(
      changes: changes, old: old, new: snapshot, total: total, member: name, givesIDs: givesIDs)
  }
}
