import FetchedRecords
import HTTPServer
import Locks

/// What streams can show: a log of events, and what it has come to.
protocol StreamableFeed: AnyObject, Sendable {
  var log: EventLog { get }
  var counters: FeedCounters { get }
  /// What other feeds remember.
  var states: RememberedStates { get }
  /// What it is of.
  var keys: [FeedKey] { get }
  /// About how many bytes each of its queries holds.
  var sizes: [FeedKey: Int] { get }
  /// What the feed shows now, and where its events end in the log.
  var present: PresentState { get }
  /// Whether its log has what its queries show. Asked between two turns of the engine.
  var isUpToDate: Bool { get }
  /// The first of its queries that does not show a commit yet; asked between two turns of the engine.
  func late(for commit: Int) -> LiveResult?
  /// Its user needs it no more.
  func release(to registry: FeedRegistry)
}

/// How a client wants its stream to begin.
struct StreamOpening: Sendable {
  /// The version to continue after.
  let lastEventID: String?
  let wantsSnapshot: Bool
  /// For each of several queries the version that the client has already: it needs no snapshot.
  let known: [String?]
  /// Whether a client may be told what leads on from a state that another feed remembers, to what is
  /// of this key.
  var mayFollow: @Sendable (RememberedState, FeedKey) -> Bool = { _, _ in true }
  /// What it is sent while nothing happens.
  var heartbeat = HeartbeatForm.comment
  /// When the client comes back to the stream if it breaks or ends.
  var retry = Retry.line()

  init(lastEventID: String?, wantsSnapshot: Bool, known: [String?] = []) {
    self.lastEventID = lastEventID
    self.wantsSnapshot = wantsSnapshot
    // A stream that resumes may have gone on since its URL was made.
    self.known = lastEventID == nil ? known : []
  }

  /// The same for a stream that caches share.
  var ofShared: StreamOpening {
    var opening = self
    opening.retry = Retry.ofShared
    return opening
  }
}

/// What leads somebody to what a feed shows, and at which moment that was looked up.
struct FeedAdvance {
  let pieces: [EventPieces]
  /// From where the log is to be followed.
  let position: Broadcast.Position
  let present: PresentState
  /// Whether the pieces lead to the present, and not the log behind them.
  fileprivate let isWhole: Bool
  /// How somebody goes on who has a version; nil: without any.
  fileprivate let kind: FeedCounters.Resumption?
  /// What fails, which the log tells by itself.
  fileprivate let failures: [EventPieces]

  fileprivate init(
    _ pieces: [EventPieces], _ kind: FeedCounters.Resumption?, to present: PresentState
  ) {
    (self.pieces, self.kind, self.present, isWhole) = (pieces, kind, present, true)
    (position, failures) = (present.position, present.failures)
  }

  /// With the events of the log behind these.
  fileprivate init(
    _ pieces: [EventPieces], following missed: EventLog.Continuation.Events,
    to present: PresentState
  ) {
    (self.pieces, kind, failures, self.present) = (pieces, .log, [], present)
    (position, isWhole) = (missed.position, missed.bytes == 0)
  }
}

extension StreamableFeed {
  /// What a stream is sent before the log, and from where it follows the log.
  ///
  /// - Parameters:
  ///   - opening: how the client wants it.
  ///   - commit: what is told anew is of that commit at least, which its reader has seen.
  /// - Returns: the least that leads to the present.
  func beginning(_ opening: StreamOpening, notBefore commit: Int = 0) -> StreamBeginning {
    let advance = advance(opening, notBefore: commit)
    if let kind = advance.kind { counters.note(kind) }
    return StreamBeginning(
      [.bytes(opening.retry)] + advance.pieces + advance.failures
        + (advance.isWhole ? opening.heartbeat.ofBeginning : []), advance.position)
  }

  /// What leads to the present.
  ///
  /// For a client that has a version already that is the least of what leads from there to the
  /// present, and never more than a snapshot and a tenth (`protocol.md` §4): the log's own bytes
  /// where the log still has them, one change set where the state is remembered, or snapshots.
  /// Nothing is skipped silently. What fails is told behind that: a stream begins with its snapshot.
  ///
  /// - Parameters:
  ///   - opening: how the client wants it.
  ///   - commit: what is told anew is of that commit at least, which its reader has seen.
  /// - Returns: the least that leads to the present.
  func advance(_ opening: StreamOpening, notBefore commit: Int = 0) -> FeedAdvance {
    guard let lastEventID = opening.lastEventID else {
      let present = present.notBefore(commit)
      return FeedAdvance(
        opening.wantsSnapshot ? first(of: present, opening) : [], nil, to: present)
    }
    let known = log.continuation(after: lastEventID)
    let present = present.notBefore(commit)
    let missed = known.events.flatMap { present.isExceeded(by: $0.bytes) ? nil : $0 }
    let name = Self.name(known.version, insteadOf: lastEventID)
    if let missed, missed.changeSets <= 1, !missed.hasFailures {
      return FeedAdvance(name, following: missed, to: present)
    }
    // The log would tell once more what is over; what fails now is told behind the difference.
    let limit = missed.flatMap { $0.hasFailures ? nil : $0.bytes }
    if let advance = known.state.flatMap({ present.advance(from: $0, below: limit) }) {
      return FeedAdvance(name + advance.pieces, advance.kind, to: present)
    }
    if let missed { return FeedAdvance(name, following: missed, to: present) }
    if known.version == nil, !present.isMultiple,
      let state = elsewhere(lastEventID, keys[0], opening),
      let advance = present.advance(from: state, isOwn: false)
    {
      let name = Self.name(state.version(meantBy: lastEventID), insteadOf: lastEventID)
      return FeedAdvance(name + advance.pieces, advance.kind, to: present)
    }
    return FeedAdvance(present.snapshots, .snapshot, to: present)
  }

  /// Whether the beginning may take long: results that share nothing are compared as wholes.
  ///
  /// - Parameters:
  ///   - opening: how the client wants it.
  ///   - count: so many records are compared in a moment.
  /// - Returns: whether there are more of them.
  func isLong(_ opening: StreamOpening, moreThan count: Int) -> Bool {
    guard present.numberOfRecords > count else { return false }
    let versions = [opening.lastEventID] + opening.known
    return versions.contains { $0.map { log.continuation(after: $0).version == nil } == true }
  }

  /// A state that another feed of the query remembers, for somebody who may go on from there.
  private func elsewhere(
    _ version: String, _ key: FeedKey, _ opening: StreamOpening
  ) -> RememberedState? {
    guard let state = states.state(of: version, of: key.query), opening.mayFollow(state, key) else {
      return nil
    }
    return state
  }

  /// What a client is sent who has not seen this stream before: of each query what leads on from what
  /// the client has of it, and else its snapshot.
  private func first(of present: PresentState, _ opening: StreamOpening) -> [EventPieces] {
    present.beginning(after: opening.known) { index, version in
      elsewhere(version, keys[index], opening)?.snapshots[0]
    }
  }

  /// Tells a client what its version is called here, where another server gave it.
  private static func name(
    _ version: ResultsVersion?, insteadOf text: String
  ) -> [EventPieces] {
    guard let version, version.description != text else { return [] }
    return [.name(version)]
  }

  /// How a stream goes on whose reader stopped at a position that has left the log.
  func resumption(after position: Broadcast.Position) -> StreamBody.Resumption {
    beginning(from: log.state(at: position)).resumption
  }

  /// What leads a client here from a state of this feed, or of another.
  ///
  /// - Parameters:
  ///   - state: what the client has, of as many queries; nil: nobody knows.
  ///   - isOwn: whether it is of this feed.
  ///   - hasFailed: whether the client was told last that nothing can be shown.
  ///   - commit: what is told anew is of that commit at least, which its reader has seen.
  /// - Returns: the least that leads to the present.
  func beginning(
    from state: RememberedState?, isOwn: Bool = true, after hasFailed: Bool = false,
    notBefore commit: Int = 0
  ) -> StreamBeginning {
    let present = present.notBefore(commit)
    let advance = state.flatMap { present.advance(from: $0, isOwn: isOwn) }
    counters.note(advance?.kind ?? .snapshot)
    var pieces = (advance?.pieces ?? present.snapshots) + present.failures
    if hasFailed, advance?.showsNothing == true, present.failures.isEmpty {
      pieces.append(present.recovery)
    }
    return StreamBeginning(pieces, present.position)
  }
}

/// When a client comes back to a stream that broke.
enum Retry {
  /// A `retry:` field of one to three seconds: clients whose streams broke together come back one
  /// by one.
  static func line() -> [UInt8] {
    Array("retry: \(Int.random(in: 1000...3000))\n\n".utf8)
  }

  /// Of a stream that caches share, which is the same for all its clients: one second, since it ends
  /// by itself again and again. Clients jitter by themselves.
  static let ofShared = Array("retry: 1000\n\n".utf8)
}

/// What a stream sends before it follows its log, and from where it follows it.
struct StreamBeginning: Sendable {
  let prefix: StreamBody.Producer
  let position: Broadcast.Position

  init(_ pieces: [EventPieces], _ position: Broadcast.Position) {
    self.position = position
    let rest = Mutex(pieces[...])
    prefix = { rest.withLock { $0.nextPiece() } }
  }

  var resumption: StreamBody.Resumption {
    StreamBody.Resumption(prefix: prefix, position: position)
  }
}
