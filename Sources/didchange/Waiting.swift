import Dispatch
import Locks

/// Runs what is asynchronous, on a thread that has nothing else to do meanwhile.
///
/// - Parameter body: called on another thread.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
func wait<Value: Sendable>(
  for body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let outcome = Outcome<Value>()
  let done = DispatchSemaphore(value: 0)
  Task {
    do {
      outcome.set(.success(try await body()))
    } catch {
      outcome.set(.failure(error))
    }
    done.signal()
  }
  done.wait()
  return try outcome.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)

  func set(_ result: Result<Value, any Error>) { self.result.withLock { $0 = result } }

  func get() throws -> Value {
    guard let result = result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}
