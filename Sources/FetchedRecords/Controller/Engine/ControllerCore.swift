import Dispatch
import GRDB
import Synchronization

/// What a controller shares with its engine: what it asks for and what it shows.
///
/// All that an engine tells passes through here to the controller's queue. A generation stands for
/// what lies between two fetches: what was told before a fetch and has not arrived is dropped.
final class ControllerCore: Sendable {
  let engine: RecordsEngine
  let queue: DispatchQueue
  let id = ControllerID()
  private let state: Mutex<State>

  private struct State {
    var request: RecordsRequest
    var alongside: (@Sendable (Database) throws -> any Sendable)?
    var generation = 0
    /// nil: nothing was fetched yet.
    var shown: FetchedState?
    /// Whether the engine keeps the records up to date.
    var isLive = false
    /// Called on `queue`.
    var receive: (@Sendable (LiveRecords.Told) -> Void)?
  }

  init(_ request: RecordsRequest, engine: RecordsEngine, queue: DispatchQueue) {
    self.engine = engine
    self.queue = queue
    state = Mutex(State(request: request))
  }

  deinit { engine.close(id) }

  /// - Parameter receive: called on the queue for what the engine tells; what changed is shown by
  ///   ``show(_:)`` then.
  func connect(_ receive: @escaping @Sendable (LiveRecords.Told) -> Void) {
    state.withLock { $0.receive = receive }
  }

  var shown: FetchedState? { state.withLock(\.shown) }
  var generation: Int { state.withLock(\.generation) }
  var isLive: Bool { state.withLock(\.isLive) }

  func show(_ shown: FetchedState) { state.withLock { $0.shown = shown } }

  // MARK: - Fetching

  /// Fetches; all that was told before and has not arrived is dropped, unless the fetch fails.
  ///
  /// - Parameter isTracking: whether the records are kept up to date from then on.
  /// - Throws: what the engine throws.
  func fetch(isTracking: Bool) throws {
    let (request, alongside, next) = state.withLock {
      ($0.request, $0.alongside, $0.generation + 1)
    }
    guard isTracking else {
      let fetched = try engine.fetch(request)
      engine.close(id)
      return begin(next, showing: fetched, isLive: false)
    }
    try engine.open(id, cacheName: request.cacheName) { db, cache in
      let live = try LiveRecords(
        request, alongside: alongside, cache: cache, in: db, tell: teller(next))
      // Before the engine can tell anything of the new generation.
      begin(next, showing: live.state, isLive: true)
      return live
    }
  }

  private func begin(_ generation: Int, showing shown: FetchedState, isLive: Bool) {
    state.withLock { state in
      state.generation = generation
      state.shown = shown
      state.isLive = isLive
    }
  }

  /// Asks for something else from now on; where records are tracked, the difference is told.
  func change(to request: RecordsRequest) throws {
    if isLive { try engine.change(id, to: request) }
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
      state.isLive = true
      return (state.request, shown, state.generation)
    }
    guard let (request, shown, generation) = resumed else { return }
    let tell = teller(generation)
    engine.resume(id) {
      LiveRecords(request, showing: shown, alongside: alongside, tell: tell)
    }
  }

  /// Keeps the records up to date if nothing does so yet.
  func trackIfNeeded() {
    let (isLive, alongside) = state.withLock { ($0.isLive, $0.alongside) }
    if !isLive { track(alongside: alongside) }
  }

  /// Shows from now on what is shown now.
  func stopTracking() {
    state.withLock { state in
      state.alongside = nil
      state.generation += 1
      state.isLive = false
    }
    engine.close(id)
  }

  private func teller(_ generation: Int) -> @Sendable (LiveRecords.Told) -> Void {
    { [weak self] told in
      guard let queue = self?.queue else { return }
      queue.async { [weak self] in self?.receive(told, generation) }
    }
  }

  private func receive(_ told: LiveRecords.Told, _ generation: Int) {
    let receive = state.withLock { $0.generation == generation ? $0.receive : nil }
    receive?(told)
  }
}
