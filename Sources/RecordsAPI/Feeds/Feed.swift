import FetchedRecords
import HTTPServer
import OrderedResults
import Synchronization

/// One controller as the API shows it: its latest snapshot, and the log of its events that all its
/// streams share.
final class Feed: StreamableFeed {
  let key: FeedKey
  let controller: QueryController
  let log: EventLog
  private let source: EventSourceName

  /// The latest state, and where its events end in the log.
  struct Head {
    /// The last state whose events are in the log.
    var snapshot: ResultsSnapshot
    var failure: FetchFailure?
    var position: Broadcast.Position
  }

  private struct State {
    var head: Head
    /// Who else wants to know of events.
    var listeners: [ObjectIdentifier: @Sendable (ControllerEvent) -> Void] = [:]
  }

  private let state: Mutex<State>

  init(key: FeedKey, controller: QueryController, logCapacity: Int) {
    let snapshot = controller.snapshot
    let resumed = controller.resumed
    self.key = key
    self.controller = controller
    source = EventSourceName(query: key.query, arguments: key.arguments, isAlwaysNamed: false)
    log = EventLog(
      capacity: logCapacity, version: (resumed?.old ?? snapshot).version.description)
    if let resumed {
      // Clients of an earlier life go on from here, even if nothing but the version has changed.
      var events = ChangeEvents(source: source)
      events.append(resumed.changes, from: resumed.old, to: snapshot)
      log.append(events.bytes, version: snapshot.version.description)
    }
    state = Mutex(
      State(head: Head(snapshot: snapshot, failure: nil, position: log.broadcast.end)))
  }

  var head: Head { state.withLock(\.head) }

  /// The latest state with what now stands alongside.
  ///
  /// A commit may change that and leave the records, and so their version, as they were. The head
  /// stays then, because what is read of it is validated by its version.
  var presentHead: Head {
    var head = head
    let present = controller.snapshot
    if present.version == head.snapshot.version { head.snapshot = present }
    return head
  }

  /// Tells `listener` of every event from now on, on the refresher's queue.
  func listen(_ owner: AnyObject, _ listener: @escaping @Sendable (ControllerEvent) -> Void) {
    state.withLock { $0.listeners[ObjectIdentifier(owner)] = listener }
  }

  func stopListening(_ owner: AnyObject) {
    state.withLock { $0.listeners[ObjectIdentifier(owner)] = nil }
  }

  /// Writes what a refresh found into the log. Called on the refresher's queue, in order.
  func receive(_ event: ControllerEvent) {
    var events = ChangeEvents(source: source)
    let listeners = state.withLock { state in
      switch event {
      case .changed(let changes, let old, let new):
        events.append(changes, from: old, to: new)
        log.append(events.bytes, version: new.version.description)
        state.head.snapshot = new
        state.head.failure = nil
      case .reset(let snapshot):
        log.restart(
          with: SnapshotEvent(snapshot: snapshot, source: source).whole(),
          version: snapshot.version.description)
        state.head.snapshot = snapshot
        state.head.failure = nil
      case .failed(let failure):
        events.append(failure)
        log.append(events.bytes)
        state.head.failure = failure
      case .recovered:
        // No event: whoever shows the result shows the right one.
        state.head.failure = nil
      }
      state.head.position = log.broadcast.end
      return state.listeners.values
    }
    for listener in listeners { listener(event) }
  }

  /// What a stream is sent before the log, and from where it follows the log.
  func beginning(_ opening: StreamOpening) -> StreamBeginning {
    opening.beginning(of: log) {
      let head = presentHead
      return StreamOpening.Present(
        snapshots: [SnapshotEvent(snapshot: head.snapshot, source: source)],
        failures: head.failure.map { [ChangeEvents.failure($0, source: source)] } ?? [],
        position: head.position)
    }
  }
}

/// What tells one controller from another: the query and the values of its parameters.
struct FeedKey: Hashable, Sendable {
  let query: String
  let arguments: QueryArguments
}
