import Dispatch

/// Lets an actor live on a dispatch queue, so that the compiler guards what only that queue may
/// touch, and handlers of dispatch sources can get at it without a hop: `assumeIsolated` checks the
/// queue.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(label: String) {
    // Serial queues have a thread of their own: one that looks for a commit for some milliseconds
    // does not take a thread from the process's other queues.
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
