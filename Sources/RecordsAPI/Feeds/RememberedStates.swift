import FetchedRecords
import HTTPServer
import Locks

/// Where the states that feeds remember are found by what they are of, whichever feed it is: a client
/// that asks for something else continues from what it has (`protocol.md` §4, *Another request*).
///
/// A commit costs nothing here: a log that has new states is listed once, and what it has got since
/// is taken in when somebody looks.
final class RememberedStates: Sendable {
  private struct Name: Hashable {
    let query: String
    let state: String
  }

  private struct Place {
    weak var state: RememberedState?
  }

  private struct ListedLog {
    weak var log: EventLog?
  }

  private struct State {
    var places: [Name: Place] = [:]
    var logs: [ListedLog] = []
    /// Beyond, those that are gone are taken out.
    var mostPlaces = 1024
    var mostLogs = 64
  }

  private let state = Mutex(State())

  /// A log has states that are not known here.
  func list(_ log: EventLog) {
    state.withLock { state in
      state.logs.append(ListedLog(log: log))
      guard state.logs.count > state.mostLogs else { return }
      state.logs.removeAll { $0.log == nil }
      state.mostLogs = max(64, state.logs.count * 2)
    }
  }

  /// The state that was remembered last of those that show this, if any is remembered.
  ///
  /// O(1), and O(r) for the r states that are remembered since this was last asked.
  ///
  /// - Parameters:
  ///   - version: what the client says that it has.
  ///   - query: what that is of.
  /// - Returns: nil where nobody remembers it.
  func state(of version: String, of query: String) -> RememberedState? {
    let listed = state.withLock { state in
      defer { state.logs = [] }
      return state.logs
    }
    let new = listed.flatMap { $0.log?.takeUnlisted() ?? [] }
    let name = Name(query: query, state: String(ResultsVersion.state(in: version)))
    return state.withLock { state in
      for remembered in new {
        for version in [remembered.version, remembered.snapshots[0].version] {
          let name = Name(query: remembered.keys[0].query, state: version.state)
          state.places[name] = Place(state: remembered)
        }
      }
      if state.places.count > state.mostPlaces {
        state.places = state.places.filter { $0.value.state != nil }
        state.mostPlaces = max(1024, state.places.count * 2)
      }
      return state.places[name]?.state
    }
  }
}

/// What a feed showed at one version.
final class RememberedState: Sendable {
  let version: ResultsVersion
  /// The position in the log after the events that led to it.
  let position: Broadcast.Position
  /// One for each query of the feed, in their order.
  let snapshots: [ResultsSnapshot]
  /// What these are of.
  let keys: [FeedKey]

  init(
    version: ResultsVersion, position: Broadcast.Position, snapshots: [ResultsSnapshot],
    of keys: [FeedKey]
  ) {
    self.version = version
    self.position = position
    self.snapshots = snapshots
    self.keys = keys
  }

  /// Its version, or that of its first query, whichever a client means: a stream of several queries has
  /// versions of its own, also where it is of one.
  func version(meantBy text: String) -> ResultsVersion {
    ResultsVersion.state(in: text) == version.state ? version : snapshots[0].version
  }
}
