import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
  import Locks
#endif

// Waiting for an answer, on Linux, for little: see `QueueBrake`.
extension HTTPSession {
  #if canImport(FoundationNetworking)
    /// Seconds: an answer that comes sooner is not slowed down.
    private static let grace: TimeInterval = 0.1

    func brakeLater() {
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { [weak self] in
        self?.brake()
      }
    }

    /// Holds the queue once if something waits.
    func brake() {
      let task: URLSessionTask? = state.withLock { state in
        guard state.brake == nil, state.purposes.values.contains(where: \.isBusy),
          let url = QueueBrake.url
        else { return nil }
        let task = state.session?.dataTask(with: url)
        state.brake = task?.taskIdentifier
        return task
      }
      task?.resume()
    }

    /// Goes on if it was the brake that has ended.
    func brakeEnded(_ task: URLSessionTask) {
      let closed = state.withLock { state -> URLSession? in
        guard state.brake == task.taskIdentifier else { return nil }
        state.brake = nil
        defer { state.closed = nil }
        return state.closed
      }
      // When this task is known to be over: see `HTTPInflow.cancel()`.
      if let closed { queue.addOperation { closed.invalidateAndCancel() } } else { brake() }
    }
  #else
    func brake() {}
    func brakeLater() {}
    func brakeEnded(_ task: URLSessionTask) {}
  #endif
}
