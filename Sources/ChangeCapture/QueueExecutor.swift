import Dispatch

/// Lets an actor live on a dispatch queue, so that the compiler guards what only that queue may
/// touch; `assumeIsolated` checks the queue.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue
  private let key = DispatchSpecificKey<Void>()

  /// - Parameter queue: a serial queue.
  init(_ queue: DispatchQueue) {
    self.queue = queue
    queue.setSpecific(key: key, value: ())
  }

  deinit { queue.setSpecific(key: key, value: nil) }

  /// Runs something on the queue and waits for it; on the queue itself, runs it at once.
  func sync<T>(_ body: () -> T) -> T {
    DispatchQueue.getSpecific(key: key) == nil ? queue.sync(execute: body) : body()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
