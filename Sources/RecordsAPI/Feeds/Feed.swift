import FetchedRecords
import HTTPServer
import Locks
import OrderedResults

/// One controller as the API shows it: its latest snapshot, and the log of its events that all its
/// streams share.
final class Feed: StreamableFeed {
  let key: FeedKey
  let controller: LiveResult
  let log: EventLog
  let counters: FeedCounters
  let states: RememberedStates
  private let member: MemberName

  /// The latest state, and where its events end in the log.
  struct Head {
    /// The last state whose events are in the log.
    var shown: PresentState.Member
    var position: Broadcast.Position

    var snapshot: ResultsSnapshot { shown.snapshot }
    var failure: FetchFailure? { shown.failure }

    /// Why a request must not be answered from the snapshot, if it must not.
    ///
    /// A lock is no reason: the snapshot is the last commit that could be read, which its version
    /// says.
    var refusal: FetchFailure? { failure?.leavesLastResult == true ? nil : failure }
  }

  private struct State {
    var head: Head
    /// Who else wants to know of events.
    var listeners: [ObjectIdentifier: Listener] = [:]
    /// Those of them who show windows and need not hear of events that do not touch these.
    var resting = RestingWindows<Listener>()
    /// The head's.
    var version: ResultsVersion
    /// Whether somebody was answered from it since the last look.
    var wasRead = false
    var isClosed = false
    /// Of the head's result, once a key was asked for.
    var keys: KeyIndex?
    /// What was written of the next state before that is told.
    var told: ToldChange?
  }

  /// Hears of an event; `rest`: if it rested until then, the state that its windows are of.
  typealias Listener = @Sendable (LiveResultEvent, _ rest: Rest?, inout Sleepers) -> Void

  /// Where a listener that rested is: all that it was not told of did not touch its windows.
  struct Rest {
    let version: ResultsVersion
    /// The records of the whole result.
    let total: Int

    init(_ snapshot: ResultsSnapshot) {
      (version, total) = (snapshot.version, snapshot.results.count)
    }
  }

  /// So many are told in less time than it takes to wake a thread; streams that show the events
  /// themselves do not wait for more.
  private static let fewListeners = 16

  private let state: Mutex<State>

  init(
    key: FeedKey, controller: LiveResult, settings: FeedSettings, counters: FeedCounters,
    states: RememberedStates
  ) {
    let snapshot = controller.snapshot
    let resumed = controller.resumed
    self.key = key
    self.controller = controller
    self.counters = counters
    self.states = states
    member = MemberName(
      query: key.query, arguments: key.arguments, window: nil, isAlwaysNamed: false)
    let shown = PresentState.Member(member, snapshot)
    let version = snapshot.version
    // Clients of an earlier life go on from what was kept of it.
    var events = ChangeEvents(member: member)
    if let resumed, resumed.old.version.state != version.state,
      events.append(
        resumed.changes, from: resumed.old, to: snapshot, unlessLongerThan: shown.size)
    {
      log = EventLog(
        settings, counters: counters, version: resumed.old.version, shows: [resumed.old.ofNoCommit],
        of: [key], in: states)
      log.append(
        events.bytes, count: events.count, version: version, shows: [snapshot],
        changes: resumed.changes.count)
    } else {
      log = EventLog(
        settings, counters: counters, version: version, shows: [snapshot], of: [key], in: states)
    }
    state = Mutex(
      State(
        head: Head(shown: shown, position: log.broadcast.end), version: version))
  }

  /// Ends the streams; what the feed shows is no longer kept up to date.
  func close() {
    state.withLock { $0.isClosed = true }
    log.close()
  }

  /// Whether this version is what the feed shows, and nothing stands against showing it.
  ///
  /// - Parameters:
  ///   - version: of an answer that was made.
  ///   - isUse: whether somebody will be answered with it.
  /// - Returns: false also where the feed is closed.
  func isShowing(_ version: ResultsVersion, isUse: Bool = true) -> Bool {
    state.withLock { state in
      let isShowing = !state.isClosed && state.head.refusal == nil && state.version == version
      if isShowing, isUse { state.wasRead = true }
      return isShowing
    }
  }

  /// Whether somebody was answered from the feed since this was last asked.
  func wasRead() -> Bool {
    state.withLock { state in
      defer { state.wasRead = false }
      return state.wasRead
    }
  }

  var head: Head { state.withLock(\.head) }

  /// Whether it is known already where each key of a state is.
  func knowsKeys(of snapshot: ResultsSnapshot) -> Bool {
    state.withLock { $0.keys != nil && $0.head.snapshot.version == snapshot.version }
  }

  /// Where each key of a state is: O(n) for n records the first time.
  func keys(of snapshot: ResultsSnapshot) -> KeyIndex {
    let known = state.withLock { $0.head.snapshot.version == snapshot.version ? $0.keys : nil }
    if let known { return known }
    let keys = KeyIndex(snapshot.results)
    state.withLock { state in
      if state.head.snapshot.version == snapshot.version { state.keys = keys }
    }
    return keys
  }

  /// Tells `listener` of every event from now on, on the refresher's queue.
  func listen(_ owner: AnyObject, _ listener: @escaping Listener) {
    state.withLock { $0.listeners[ObjectIdentifier(owner)] = listener }
  }

  func stopListening(_ owner: AnyObject) {
    state.withLock { state in
      state.listeners[ObjectIdentifier(owner)] = nil
      state.resting.remove(ObjectIdentifier(owner))
    }
  }

  /// Spares a listener the events that do not touch its windows, until one does, unless it is still to
  /// be told of something.
  ///
  /// - Parameters:
  ///   - owner: of the listener.
  ///   - windows: all that it shows of the result.
  ///   - version: of the result that its windows are of.
  func rest(_ owner: AnyObject, _ windows: [Range<Int>], at version: ResultsVersion) {
    state.withLock { state in
      let owner = ObjectIdentifier(owner)
      guard state.version == version, state.head.failure == nil,
        let listener = state.listeners.removeValue(forKey: owner)
      else { return }
      state.resting.add(owner, listener, windows)
    }
  }

  /// What a listener's windows are of, if it rests.
  func rest(of owner: AnyObject) -> Rest? {
    state.withLock { state in
      state.resting.contains(ObjectIdentifier(owner)) ? Rest(state.head.snapshot) : nil
    }
  }

  /// So many changes are written in a moment, when they are told.
  private static let fewChanges = 256

  /// Writes what will be told of a change of many records. On any queue.
  func prepare(_ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot) {
    guard key.window == nil, changes.count > Self.fewChanges else { return }
    let told = ToldChange(changes, from: old, to: new, as: member)
    state.withLock { $0.told = told }
  }

  /// Writes what a refresh found into the log. Called on the refresher's queue, in order.
  func receive(_ event: LiveResultEvent, _ sleepers: inout Sleepers) {
    let (rest, woken, listeners) = state.withLock { state in
      let rest = Rest(state.head.snapshot)
      let woken = Self.wake(for: event, &state)
      let ready = Self.takeReady(for: event, &state)
      defer { for (owner, listener) in woken { state.listeners[owner] = listener } }
      switch event {
      case .changed(_, _, let new) where key.window != nil:
        // Only compositions show a window; the events are theirs to write and to keep.
        state.head.shown.show(new, total: new.total)
        state.head.shown.failure = nil
        state.keys = nil
      case .changed(let changes, let old, let new):
        show(
          ready ?? ToldChange(changes, from: old, to: new, as: member), changes: changes.count,
          &state.head.shown, &sleepers)
        state.keys = nil
      case .reset(let snapshot):
        state.head.shown = PresentState.Member(member, snapshot)
        log.restart(
          with: state.head.shown.event(id: snapshot.version.description)
            .whole(atMost: EventLog.largestSnapshot),
          version: snapshot.version, shows: [snapshot])
        state.keys = nil
      case .failed(let failure):
        var events = ChangeEvents(member: member)
        events.append(failure)
        log.append(events.bytes, count: events.count)
        state.head.shown.failure = failure
      case .recovered:
        let wasTold = state.head.failure != nil
        state.head.shown.failure = nil
        noteCommit(&state.head.shown)
        if wasTold {
          log.append(ChangeEvents.recovery(state.head.snapshot, member: member), count: 1)
        }
      case .counted(let snapshot):
        state.head.shown.show(snapshot, total: snapshot.total)
      case .landed:
        noteCommit(&state.head.shown)
      case .delayed, .fetching:
        // For those who show it together with others.
        break
      }
      state.head.position = log.broadcast.end
      state.version = state.head.snapshot.version
      return (rest, woken, state.listeners.values)
    }
    if listeners.count + woken.count > Self.fewListeners { sleepers.wakeNow() }
    for listener in listeners { listener(event, nil, &sleepers) }
    for (_, listener) in woken { listener(event, rest, &sleepers) }
  }

  /// What was written of a change before it is told. Nothing is of use once something else is.
  private static func takeReady(
    for event: LiveResultEvent, _ state: inout State
  ) -> ToldChange? {
    switch event {
    case .delayed, .fetching: return nil
    case .changed, .reset, .failed, .recovered, .counted, .landed: break
    }
    defer { state.told = nil }
    guard case .changed(_, let old, let new) = event else { return nil }
    return state.told.flatMap { $0.leads(from: old, to: new) ? $0 : nil }
  }

  /// Takes those who have to hear of an event out of those who rest.
  private static func wake(
    for event: LiveResultEvent, _ state: inout State
  ) -> [(owner: ObjectIdentifier, listener: Listener)] {
    if state.resting.isEmpty { return [] }
    if case .changed(let changes, let old, let new) = event, old.alongside == new.alongside,
      let reach = changes.reach
    {
      return state.resting.take(touchedBy: reach)
    }
    return state.resting.takeAll()
  }

  /// The same is shown again after it was not known for a while: it is of the present commit, and of
  /// none that was missed.
  private func noteCommit(_ shown: inout PresentState.Member) {
    let present = controller.snapshot
    if present.number == shown.snapshot.number {
      shown.show(shown.snapshot.notBefore(present.commit), total: shown.total)
    }
  }

  /// Appends what is told of a change to the log.
  private func show(
    _ told: ToldChange, changes: Int, _ shown: inout PresentState.Member,
    _ sleepers: inout Sleepers
  ) {
    let (new, version) = (told.shown.snapshot, told.shown.snapshot.version)
    let leap = shown.leap
    shown = told.shown
    shown.leap = leap
    switch told.form {
    case .changes(let bytes, let count):
      log.append(
        bytes, count: count, version: version, shows: [new], changes: changes, leaving: &sleepers)
    case .snapshot(let bytes):
      log.append(
        bytes, count: 1, version: version, shows: [new], changes: changes, leaving: &sleepers)
      shown.leap = log.broadcast.end
    case .leap:
      log.leap(version: version, shows: [new], changes: changes)
      shown.leap = log.broadcast.end
    }
  }

  var keys: [FeedKey] { [key] }
  var sizes: [FeedKey: Int] { [key: size] }

  /// What a refresh tells is written in its turn.
  var isUpToDate: Bool { true }

  func late(for commit: Int) -> LiveResult? { controller.shows(commit) ? nil : controller }

  /// The result, where requests are refused for a failure that may be over: the database can be read,
  /// and it is being fetched again. On the engine's queue only.
  func returning(in refresher: Refresher) -> LiveResult? {
    head.refusal != nil && refresher.failure == nil && controller.isToldDelayed ? controller : nil
  }

  var present: PresentState {
    let head = head
    return PresentState(
      members: [head.shown], version: head.snapshot.version, position: head.position,
      isMultiple: false)
  }
}

/// What tells one controller from another: the query and the values of its parameters.
struct FeedKey: Hashable, Sendable {
  let query: String
  let arguments: QueryArguments
  /// The offsets of the result that it shows, where that is a window that is live by itself.
  var window: Range<Int>?

  /// That of the whole result.
  var whole: FeedKey { FeedKey(query: query, arguments: arguments) }
}
