import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What comes of one request, from the session's queue to whoever reads.
final class HTTPInflow: Sendable {
  let pieces: AsyncStream<HTTPExchange.Piece>
  private let continuation: AsyncStream<HTTPExchange.Piece>.Continuation
  private let last = Mutex(ContinuousClock.now)
  private let run = Mutex(Run())

  private struct Run {
    var task: URLSessionTask?
    var isCancelled = false
  }

  init() {
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
    add(.end(error))
    continuation.finish()
  }

  func tellSilence() { continuation.yield(.silence) }

  func cancel() {
    let task = run.withLock { run in
      run.isCancelled = true
      return run.task
    }
    task?.cancel()
    continuation.finish()
  }
}
