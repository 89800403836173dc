#if os(Linux)
  import Dispatch
  import Foundation
  import Locks
  import Testing

  @testable import FetchedRecords

  @Suite struct `A thread for long work` {
    /// Larger where others go first (`man 2 getpriority`).
    private static var niceness: Int32 { getpriority(.init(0), 0) }

    private func niceness(of thread: WorkerThread) -> Int32 {
      let result = Mutex<Int32>(0)
      let done = DispatchSemaphore(value: 0)
      thread.perform {
        result.withLock { $0 = Self.niceness }
        done.signal()
      }
      done.wait()
      return result.withLock { $0 }
    }

    @Test func `runs as any other until it is told to let others go first`() {
      let thread = WorkerThread(name: "one")
      let before = niceness(of: thread)
      #expect(before == Self.niceness)
      #expect(!thread.yields)
      thread.yieldToOthers()
      #expect(thread.yields)
      #expect(niceness(of: thread) > before)
      let other = WorkerThread(name: "other")
      #expect(niceness(of: other) == before)
    }

    @Test func `lets others go first in the middle of its work`() {
      let thread = WorkerThread(name: "one")
      let before = Self.niceness
      let (begun, told, done) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      let after = Mutex<Int32>(before)
      thread.perform {
        begun.signal()
        told.wait()
        after.withLock { $0 = Self.niceness }
        done.signal()
      }
      begun.wait()
      thread.yieldToOthers()
      told.signal()
      done.wait()
      #expect(after.withLock { $0 } > before)
    }

    @Test func `lets others go first from its beginning where it is told so at once`() {
      for _ in 0..<50 {
        let thread = WorkerThread(name: "one")
        thread.yieldToOthers()
        #expect(niceness(of: thread) > Self.niceness)
      }
    }
  }
#endif
