import Foundation
import Testing

/// What every test here needs: it waits for processes and sockets, and so must neither hold one of
/// the few threads that tasks share, nor run beside all the others at once.
struct EndToEnd: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> EndToEnd? {
    testCase == nil ? nil : self
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Gate.shared.enter()
    do {
      try await withTaskExecutorPreference(ThreadExecutor()) { try await function() }
    } catch {
      await Gate.shared.leave()
      throw error
    }
    await Gate.shared.leave()
  }
}

extension Trait where Self == EndToEnd {
  static var endToEnd: EndToEnd { EndToEnd() }
}

/// Runs each job on a thread of its own, which may wait for as long as it likes.
private final class ThreadExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    Thread.detachNewThread { job.runSynchronously(on: executor) }
  }
}

/// Lets a few tests in at a time: each has a server, processes, and one of the system's few
/// notification queues.
private actor Gate {
  static let shared = Gate(width: 6)

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(width: Int) { free = width }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
