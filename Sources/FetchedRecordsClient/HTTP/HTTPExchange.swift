package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// A request, and its answer as it comes.
package final class HTTPExchange: Sendable {
  /// A part of an answer.
  package enum Piece: Sendable {
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
  package func cancel() {
    watch.withLock { $0?.task.cancel() }
    inflow.cancel()
  }

  /// When something came last.
  package var lastArrival: ContinuousClock.Instant { inflow.lastArrival }

  /// The pieces, the last of which is an end, unless it is given up or the reader's task is cancelled.
  /// To be iterated once.
  package var pieces: AsyncStream<Piece> { inflow.pieces }

  /// Tells of `silence` whenever nothing has come for so long.
  package func watch(for limit: Duration) {
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

extension HTTPExchange {
  /// The whole of a short answer, of which something has to come within each `limit`.
  ///
  /// It throws a `URLError` where there is none, or it breaks off, and `CancellationError`.
  package nonisolated(nonsending) func whole(
    within limit: Duration
  ) async throws -> (head: HTTPURLResponse, body: [UInt8]) {
    watch(for: limit)
    defer { cancel() }
    var head: HTTPURLResponse?
    var body: [UInt8] = []
    for await piece in pieces {
      switch piece {
      case .head(let response): head = response
      case .bytes(let data): body += data
      case .silence: throw URLError(.timedOut)
      case .end(let error?): throw error
      case .end(nil):
        guard let head else { throw URLError(.badServerResponse) }
        return (head, body)
      }
    }
    throw CancellationError()
  }
}

extension HTTPSession {
  /// The status of the answer to a GET, by a session that is for nothing else.
  package func status(of url: URL, within limit: Duration) async throws -> Int {
    defer { close() }
    return try await get(url, [:]).whole(within: limit).head.statusCode
  }
}
