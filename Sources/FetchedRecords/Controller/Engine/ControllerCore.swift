import Dispatch
import GRDB
import Locks

/// What a controller shares with its engine: what it asks for and what it shows.
///
/// All that an engine tells passes through here to the controller's queue. A generation stands for
/// what lies between two fetches: what was told before a fetch and has not arrived is dropped.
final class ControllerCore: Sendable {
  let engine: Refresher
  let queue: DispatchQueue
  private let state: Mutex<State>

  private struct State {
    var request: RecordsRequest
    var alongside: (@Sendable (Database) throws -> any Sendable)?
    var generation = 0
    /// nil: nothing was fetched yet.
    var shown: FetchedState?
    /// What the engine keeps up to date; nil: nothing.
    var live: LiveResult?
    /// Called on `queue`.
    var receive: (@Sendable (RecordsListener.Told) -> Void)?
  }

  init(_ request: RecordsRequest, engine: Refresher, queue: DispatchQueue) {
    self.engine = engine
    self.queue = queue
    state = Mutex(State(request: request))
  }

  deinit { exchange(nil) }

  /// - Parameter receive: called on the queue for what the engine tells; what changed is shown by
  ///   ``show(_:)`` then.
  func connect(_ receive: @escaping @Sendable (RecordsListener.Told) -> Void) {
    state.withLock { $0.receive = receive }
  }

  var shown: FetchedState? { state.withLock(\.shown) }
  var generation: Int { state.withLock(\.generation) }

  func show(_ shown: FetchedState) { state.withLock { $0.shown = shown } }

  // MARK: - Fetching

  /// Fetches; all that was told before and has not arrived is dropped, unless the fetch fails.
  ///
  /// - Parameter isTracking: whether the records are kept up to date from then on.
  /// - Throws: what the engine throws.
  func fetch(isTracking: Bool) throws {
    let (request, next) = state.withLock { ($0.request, $0.generation + 1) }
    let listener = listener(request, next)
    guard isTracking else {
      return begin(next, showing: try engine.fetchOnce(for: listener), live: nil)
    }
    // Before the engine can tell anything of the new generation.
    try engine.open(for: listener) { begin(next, showing: $0.snapshot, live: $0) }
  }

  private func begin(_ generation: Int, showing snapshot: ResultsSnapshot, live: LiveResult?) {
    state.withLock { state in
      state.generation = generation
      state.shown = snapshot.presented as? FetchedState
    }
    exchange(live)
  }

  /// Asks for something else from now on; where records are tracked, the difference is told.
  func change(to request: RecordsRequest) throws {
    let (live, generation) = state.withLock { ($0.live, $0.generation) }
    if let live {
      try engine.open(
        for: listener(request, generation), after: live, completion: exchange)
    }
    state.withLock { $0.request = request }
  }

  /// Lets a part of the request be exchanged.
  var request: RecordsRequest { state.withLock(\.request) }

  // MARK: - Tracking

  /// Keeps the records up to date from what is shown, with another value alongside.
  ///
  /// What was told before and has not arrived is told again.
  func track(alongside: (@Sendable (Database) throws -> any Sendable)?) {
    let resumed = state.withLock { state -> (RecordsRequest, FetchedState, Int)? in
      state.alongside = alongside
      guard let shown = state.shown else { return nil }
      state.generation += 1
      return (state.request, shown, state.generation)
    }
    guard let (request, shown, generation) = resumed else { return }
    let live = LiveResult(for: listener(request, generation), showing: shown.snapshot)
    exchange(live)
    engine.resume(live)
  }

  /// Keeps the records up to date if nothing does so yet.
  func trackIfNeeded() {
    let (isLive, alongside) = state.withLock { ($0.live != nil, $0.alongside) }
    if !isLive { track(alongside: alongside) }
  }

  /// Shows from now on what is shown now.
  func stopTracking() {
    state.withLock { state in
      state.alongside = nil
      state.generation += 1
    }
    exchange(nil)
  }

  /// Lets go of what the engine keeps up to date, for something else.
  private func exchange(_ live: LiveResult?) {
    let old = state.withLock { state in
      defer { state.live = live }
      return state.live
    }
    if let old { engine.close(old) }
  }

  private func listener(_ request: RecordsRequest, _ generation: Int) -> RecordsListener {
    RecordsListener(
      request, engine: engine, alongside: state.withLock(\.alongside),
      tell: { [weak self] told in
        guard let queue = self?.queue else { return }
        queue.async { [weak self] in self?.receive(told, generation) }
      })
  }

  private func receive(_ told: RecordsListener.Told, _ generation: Int) {
    let receive = state.withLock { $0.generation == generation ? $0.receive : nil }
    receive?(told)
  }
}
