import Foundation
import Locks

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A request, and its answer as it comes.
final class HTTPExchange: Sendable {
  /// A part of an answer.
  enum Piece: Sendable {
    case head(HTTPURLResponse)
    case bytes(Data)
    /// Nothing has come for as long as was said.
    case silence
    /// The last one; an error where the answer broke off, or there was none.
    case end((any Error)?)
  }

  private let inflow: HTTPInflow
  private let watch = Mutex<(limit: Duration, task: Task<Void, Never>)?>(nil)

  init(_ inflow: HTTPInflow) { self.inflow = inflow }

  deinit { cancel() }

  /// Gives the answer up.
  func cancel() {
    watch.withLock { $0?.task.cancel() }
    inflow.cancel()
  }

  /// When something came last.
  var lastArrival: ContinuousClock.Instant { inflow.lastArrival }

  /// The pieces, the last of which is an end, unless it is given up or the reader's task is cancelled.
  /// To be iterated by one at a time.
  var pieces: AsyncStream<Piece> { inflow.pieces }

  /// Tells of `silence` whenever nothing has come for so long.
  func watch(for limit: Duration) {
    watch.withLock { watch in
      guard watch?.limit != limit else { return }
      watch?.task.cancel()
      watch = (limit, Task { [inflow] in await Self.watch(inflow, for: limit) })
    }
  }

  private static func watch(_ inflow: HTTPInflow, for limit: Duration) async {
    var told: ContinuousClock.Instant?
    while !Task.isCancelled {
      let last = max(inflow.lastArrival, told ?? inflow.lastArrival)
      if last + limit <= .now {
        told = .now
        inflow.tellSilence()
      } else {
        try? await Task.sleep(until: last + limit, clock: .continuous)
      }
    }
  }
}
