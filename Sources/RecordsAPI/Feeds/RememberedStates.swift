import FetchedRecords
import HTTPServer
import Synchronization

/// Where the states that feeds remember are found by what they are of, whichever feed it is: a client
/// that asks for something else continues from what it has (`protocol.md` §4, *Another request*).
final class RememberedStates: Sendable {
  fileprivate struct Name: Hashable {
    let query: String
    let state: String
  }

  private struct Place {
    weak var state: RememberedState?
  }

  private let places = Mutex<[Name: Place]>([:])

  /// The state that was remembered last of those that show this, if any is remembered.
  ///
  /// - Parameters:
  ///   - version: what the client says that it has.
  ///   - query: what that is of.
  /// - Returns: nil where nobody remembers it.
  func state(of version: String, of query: String) -> RememberedState? {
    let name = Name(query: query, state: String(ResultsVersion.state(in: version)))
    return places.withLock { $0[name]?.state }
  }

  fileprivate func add(_ state: RememberedState) {
    guard let name = Name(state) else { return }
    places.withLock { $0[name] = Place(state: state) }
  }

  fileprivate func remove(_ state: RememberedState) {
    guard let name = Name(state) else { return }
    places.withLock { places in
      // A weak reference to what is going is nil; another state may have taken the name.
      if places[name]?.state == nil { places[name] = nil }
    }
  }
}

extension RememberedStates.Name {
  /// nil: several queries together are asked for as one request alone.
  fileprivate init?(_ state: RememberedState) {
    guard state.keys.count == 1 else { return nil }
    self.init(query: state.keys[0].query, state: state.version.state)
  }
}

/// What a feed showed at one version; while it lives it is found among the remembered states.
final class RememberedState: Sendable {
  let version: ResultsVersion
  /// The position in the log after the events that led to it.
  let position: Broadcast.Position
  /// One for each query of the feed, in their order.
  let snapshots: [ResultsSnapshot]
  /// What these are of.
  let keys: [FeedKey]
  private let places: RememberedStates?

  init(
    version: ResultsVersion, position: Broadcast.Position, snapshots: [ResultsSnapshot],
    of keys: [FeedKey], in places: RememberedStates? = nil
  ) {
    self.version = version
    self.position = position
    self.snapshots = snapshots
    self.keys = keys
    self.places = places
    places?.add(self)
  }

  deinit { places?.remove(self) }
}
