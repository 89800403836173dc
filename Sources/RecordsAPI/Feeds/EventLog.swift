import DequeModule
import FetchedRecords
import HeldMemory
import HTTPServer
import Locks

/// The events of a feed, where in them each version was reached, and some of the states themselves.
///
/// Any number of streams share it; a stream resumes from any version whose events it still holds,
/// or whose state it remembers. Bounded in bytes, in change sets and in states.
final class EventLog: Sendable {
  /// Bytes of a snapshot for all streams at most; of a larger one each stream makes its own pieces,
  /// as it does at its beginning.
  static let largestSnapshot = 1 << 20

  let broadcast: Broadcast
  /// Those who wait for the next event with an unanswered request.
  let polls = WaitingPolls()

  fileprivate struct Mark {
    let version: ResultsVersion
    /// The position after the events that led to the version.
    let position: Broadcast.Position
    /// What was appended up to here since the log began.
    let total: Total
  }

  fileprivate struct Total {
    var bytes = 0
    var changeSets = 0
    /// Times that something failed, or was recovered, and nothing changed.
    var failures = 0
  }

  private struct State {
    var marks: Deque<Mark>
    var memory: StateMemory
    var total = Total()
    /// The last commit that changed something.
    var commit: Int
    /// Whether others know that there are states that they do not know.
    var isListed = false
    /// The number of the last state that they know.
    var lastKnown = Int.min
  }

  private let maximumCount: Int
  private let keys: [FeedKey]
  private let places: RememberedStates?
  private let counters: FeedCounters
  private let charge = MemoryCharge()
  private let state: Mutex<State>

  /// - Parameters:
  ///   - settings: how much is kept.
  ///   - counters: count what is appended.
  ///   - version: that of the beginning.
  ///   - shows: the states at the beginning.
  ///   - keys: what these are of.
  ///   - places: where they are found by others.
  init(
    _ settings: FeedSettings, counters: FeedCounters, version: ResultsVersion,
    shows: [ResultsSnapshot], of keys: [FeedKey], in places: RememberedStates?
  ) {
    broadcast = Broadcast(capacity: settings.logCapacity)
    maximumCount = settings.logCount
    self.counters = counters
    let position = broadcast.end
    (self.keys, self.places) = (keys, places)
    let first = RememberedState(version: version, position: position, snapshots: shows, of: keys)
    state = Mutex(
      State(
        marks: [Mark(version: version, position: position, total: Total())],
        memory: StateMemory(
          maximumCount: settings.rememberedStates, maximumBytes: settings.rememberedBytes, first),
        commit: Self.commit(of: shows)))
    state.withLock { state in
      list(&state)
      account(state)
    }
  }

  /// Appends events that led nowhere: a failure, or its end.
  func append(_ events: [UInt8], count: Int) {
    state.withLock { state in
      broadcast.append(events)
      state.total.bytes += events.count
      state.total.failures += 1
      state.marks.trim(to: broadcast.start, count: maximumCount)
      account(state)
    }
    polls.wake()
    counters.note(events: count, changeSets: 0)
  }

  /// Appends events that led to `version` by so many changes.
  func append(
    _ events: [UInt8], count: Int, version: ResultsVersion, shows: [ResultsSnapshot], changes: Int
  ) {
    var sleepers = Sleepers()
    append(
      events, count: count, version: version, shows: shows, changes: changes, leaving: &sleepers)
    sleepers.wake()
  }

  /// The same for somebody who wakes the streams later.
  func append(
    _ events: [UInt8], count: Int, version: ResultsVersion, shows: [ResultsSnapshot], changes: Int,
    leaving sleepers: inout Sleepers
  ) {
    var sleeping: [SleepingStreams] = []
    state.withLock { state in
      let position = broadcast.append(events, leaving: &sleeping)
      state.total.bytes += events.count
      state.total.changeSets += 1
      state.marks.append(Mark(version: version, position: position, total: state.total))
      state.memory.append(remembered(version, position, shows), changes: changes)
      list(&state)
      state.marks.trim(to: broadcast.start, count: maximumCount)
      state.commit = Self.commit(of: shows)
      account(state)
    }
    sleepers.append(sleeping)
    polls.wake()
    counters.note(events: count, changeSets: 1)
  }

  /// Appends a snapshot: nothing before it can be resumed from.
  ///
  /// - Parameters:
  ///   - events: the snapshot; nil: it is too large, and each stream asks its feed for it.
  ///   - version: what it leads to.
  ///   - shows: the present states.
  func restart(with events: [UInt8]?, version: ResultsVersion, shows: [ResultsSnapshot]) {
    begin(with: events, version, shows) { $0.restart(with: $1) }
  }

  /// So much has changed that a snapshot is shorter, which is too large to be written for all streams:
  /// each asks its feed for it.
  ///
  /// - Parameters:
  ///   - version: what it leads to.
  ///   - shows: the present states.
  ///   - changes: how much has changed.
  func leap(version: ResultsVersion, shows: [ResultsSnapshot], changes: Int) {
    begin(with: nil, version, shows) { $0.append($1, changes: changes) }
  }

  private func begin(
    with events: [UInt8]?, _ version: ResultsVersion, _ shows: [ResultsSnapshot],
    remember: (inout StateMemory, RememberedState) -> Void
  ) {
    state.withLock { state in
      let position = events.map { broadcast.append($0) } ?? broadcast.restart()
      state.marks = [Mark(version: version, position: position, total: state.total)]
      remember(&state.memory, remembered(version, position, shows))
      list(&state)
      state.commit = Self.commit(of: shows)
      account(state)
    }
    polls.wake()
    counters.note(events: 1, changeSets: 0)
  }

  private func remembered(
    _ version: ResultsVersion, _ position: Broadcast.Position, _ shows: [ResultsSnapshot]
  ) -> RememberedState {
    RememberedState(version: version, position: position, snapshots: shows, of: keys)
  }

  /// Several queries together are asked for as one request alone.
  private func list(_ state: inout State) {
    guard !state.isListed, keys.count == 1, let places else { return }
    state.isListed = true
    places.list(self)
  }

  /// The states that are remembered since this was last asked.
  func takeUnlisted() -> [RememberedState] {
    state.withLock { state in
      state.isListed = false
      let new = state.memory.states(after: state.lastKnown)
      state.lastKnown = new.last?.version.number ?? state.lastKnown
      return new
    }
  }

  /// The events between two positions; nil where some of them are no longer held.
  func events(from start: Broadcast.Position, to end: Broadcast.Position) -> [UInt8]? {
    start == end ? [] : broadcast.units(from: start, to: end)
  }

  /// Ends the streams after the events appended so far; who waits is answered at once.
  func close() {
    broadcast.close()
    polls.close()
  }

  /// How a stream can go on after a version.
  struct Continuation {
    /// What the version is called here, if it is known: its number may be another.
    var version: ResultsVersion? { events?.version ?? state?.version }
    /// The events after it, if they are still held.
    var events: Events?
    /// The state, if it is remembered.
    var state: RememberedState?

    struct Events {
      let version: ResultsVersion
      /// Where they begin.
      let position: Broadcast.Position
      let bytes: Int
      let changeSets: Int
      /// Whether among them are failures by themselves, most of which are over.
      let hasFailures: Bool
    }
  }

  /// How a stream can go on for a client that has a version. O(v), v versions held.
  func continuation(after version: String) -> Continuation {
    let name = ResultsVersion.state(in: version)
    return state.withLock { state in
      state.marks.trim(to: broadcast.start, count: maximumCount)
      let mark = state.marks.last { $0.version.state == name }
      let total = state.total
      return Continuation(
        events: mark.map { mark in
          Continuation.Events(
            version: mark.version, position: mark.position, bytes: total.bytes - mark.total.bytes,
            changeSets: total.changeSets - mark.total.changeSets,
            hasFailures: total.failures != mark.total.failures)
        },
        state: state.memory.state(named: name))
    }
  }

  /// What a stream has come to that has shown the log up to a position; nil: the log has gone on so far
  /// that this is not known any more.
  ///
  /// O(v), v versions reached after the position.
  func version(at position: Broadcast.Position) -> ResultsVersion? {
    state.withLock { $0.marks.last { $0.position <= position }?.version }
  }

  // MARK: - Memory

  /// About the bytes of a feed that holds nothing yet, of a mark with its version, and of a remembered
  /// state beside its records; records and events are counted where they are.
  private static let (bytesOfFeed, bytesPerMark, bytesPerState) = (8192, 160, 768)

  private func account(_ state: borrowing State) {
    charge.set(
      Self.bytesOfFeed + state.marks.count * Self.bytesPerMark
        + state.memory.size.count * Self.bytesPerState)
  }

  private static func commit(of shows: [ResultsSnapshot]) -> Int {
    shows.reduce(0) { max($0, $1.commit) }
  }

  /// The last commit that changed what is shown: whoever forgets begins with the oldest.
  var lastCommit: Int { state.withLock { $0.commit } }

  /// Forgets what led to the present state, but for the last change set. Streams go on; whoever comes
  /// back with another version, or is slow, is sent a snapshot.
  ///
  /// - Returns: whether there was anything to forget.
  func forget() -> Bool {
    state.withLock { state in
      let hadStates = state.memory.size.count > 1
      let hadEvents = broadcast.forget()
      state.marks.trim(to: broadcast.start, count: maximumCount)
      state.memory.forget()
      account(state)
      return hadStates || hadEvents
    }
  }

  /// A reader has stopped reading: what it knows is remembered for when it reads again.
  func noteStall(at position: Broadcast.Position) {
    state.withLock { $0.memory.noteStall(at: position) }
  }

  /// What a reader knows that stopped at a position.
  func state(at position: Broadcast.Position) -> RememberedState? {
    state.withLock { $0.memory.state(at: position) }
  }

  /// What is held beside the bytes of the broadcast.
  var size: (marks: Int, states: Int, stateBytes: Int) {
    state.withLock { state in
      let memory = state.memory.size
      return (state.marks.count, memory.count, memory.bytes)
    }
  }
}

extension Deque<EventLog.Mark> {
  /// Forgets versions whose events are no longer held, and those beyond the newest `count`.
  fileprivate mutating func trim(to start: Broadcast.Position, count: Int) {
    while let first, first.position < start || self.count > count + 1 { removeFirst() }
  }
}

extension SleepingStreams: Sleeper {}
