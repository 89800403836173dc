import Dispatch
import Locks

/// Runs asynchronous code on the calling thread, for what is an actor only to keep its state.
///
/// Jobs of the task and of the actors it calls go to its executor (SE-0417), which is this thread
/// waiting for them: no other thread is needed, so it may be called where all threads of the
/// concurrency runtime are busy, or from an event loop.
final class CallingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let hasJob = DispatchSemaphore(value: 0)

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    hasJob.signal()
  }

  /// Runs an operation to its end.
  static func run<T: Sendable>(
    _ operation: @escaping @Sendable () async throws -> T
  ) throws -> T {
    let thread = CallingThread()
    let result = Box<T>()
    Task(executorPreference: thread) {
      do {
        let value = try await operation()
        result.value.withLock { $0 = .success(value) }
      } catch {
        result.value.withLock { $0 = .failure(error) }
      }
    }
    while true {
      if let result = result.value.withLock({ $0 }) { return try result.get() }
      thread.runNext()
    }
  }

  private func runNext() {
    hasJob.wait()
    let job = jobs.withLock { $0.removeFirst() }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// What an operation came to.
private final class Box<T: Sendable>: Sendable {
  let value = Mutex<Result<T, any Error>?>(nil)
}
