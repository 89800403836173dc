import Foundation
import Locks

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What comes of one request, from the session's queue to whoever reads.
final class HTTPInflow: Sendable {
  let pieces: AsyncStream<HTTPExchange.Piece>
  private let continuation: AsyncStream<HTTPExchange.Piece>.Continuation
  /// The session's, on which it tells what comes.
  private let queue: OperationQueue
  private let last = Mutex(ContinuousClock.now)
  private let run = Mutex(Run())

  private struct Run {
    /// nil: it has not begun, or is over.
    var task: URLSessionTask?
    var isCancelled = false
  }

  init(_ queue: OperationQueue) {
    self.queue = queue
    (pieces, continuation) = AsyncStream.makeStream(of: HTTPExchange.Piece.self)
    continuation.onTermination = { [weak self] _ in self?.cancel() }
  }

  /// When something came last.
  var lastArrival: ContinuousClock.Instant { last.withLock { $0 } }

  /// Starts what the rest comes from.
  func begin(_ task: URLSessionTask) {
    let isCancelled = run.withLock { run in
      run.task = task
      return run.isCancelled
    }
    if isCancelled { task.cancel() } else { task.resume() }
  }

  func add(_ piece: HTTPExchange.Piece) {
    last.withLock { $0 = .now }
    continuation.yield(piece)
  }

  func end(with error: (any Error)?) {
    run.withLock { $0.task = nil }
    add(.end(error))
    continuation.finish()
  }

  func tellSilence() { continuation.yield(.silence) }

  /// Gives the answer up.
  ///
  /// On Linux a task that is cancelled while it ends ends the process (swift-corelibs-foundation,
  /// "Trying to access a behaviour for a task that in not in the registry"); so that is done between
  /// what the session tells.
  func cancel() {
    let isRunning = run.withLock { run in
      run.isCancelled = true
      return run.task != nil
    }
    if isRunning { queue.addOperation { [self] in run.withLock(\.task)?.cancel() } }
    continuation.finish()
  }
}
