#if os(Linux)
  import Dispatch
  import Foundation
  import Locks
  import Testing

  @testable import FetchedRecords

  @Suite struct `A thread for long work` {
    /// Larger where others go first (`man 2 getpriority`).
    private static var niceness: Int32 { getpriority(.init(0), 0) }

    private func niceness(of thread: WorkerThread) -> Int32 { value(of: thread) { Self.niceness } }

    /// What the thread says.
    private func value<T: Sendable>(
      of thread: WorkerThread, _ read: @escaping @Sendable () -> T
    ) -> T {
      let result = Mutex<T?>(nil)
      let done = DispatchSemaphore(value: 0)
      thread.perform {
        let value = read()
        result.withLock { $0 = value }
        done.signal()
      }
      done.wait()
      return result.withLock { $0! }
    }

    /// What `/proc/<process>/task/<thread>/<file>` says of the calling thread (`man 5 proc`).
    @Sendable private static func text(_ file: String) -> String {
      (try? String(contentsOfFile: "/proc/thread-self/\(file)", encoding: .utf8)) ?? ""
    }

    /// `SCHED_OTHER` is 0, `SCHED_IDLE` 5 (`man 7 sched`), the 41st of the fields of `stat`.
    @Sendable private static func policy() -> Int? {
      let fields = text("stat").split(separator: ")").last?.split(separator: " ") ?? []
      // Two come before the parenthesis that ends the name.
      return fields.count > 38 ? Int(fields[38]) : nil
    }

    /// A queue may make a thread for what it is handed, which then has the precedence of whoever does so for ever.
    @Test func `hands to queues by an ordinary thread`() {
      let thread = WorkerThread(name: "one")
      thread.lower(to: .whenIdle)
      #expect(value(of: thread, Self.policy) == 5)
      let policies = Mutex<[Int?]>([])
      let group = DispatchGroup()
      for number in 0..<50 {
        group.enter()
        thread.perform {
          WorkerThread.errands.perform {
            DispatchQueue(label: "\(number)", qos: .userInitiated).async {
              let policy = Self.policy()
              policies.withLock { $0.append(policy) }
              group.leave()
            }
          }
        }
      }
      group.wait()
      #expect(policies.withLock { $0 } == Array(repeating: 0, count: 50))
    }

    @Test func `has its name`() {
      let thread = WorkerThread(name: "didchange.read1")
      #expect(value(of: thread) { Self.text("comm") } == "didchange.read1\n")
    }

    @Test(arguments: [false, true]) func `leaves the processor to whoever wakes`(isAtOnce: Bool) {
      let thread = WorkerThread(name: "one")
      if !isAtOnce { #expect(value(of: thread, Self.policy) == 0) }
      thread.lower(to: .whenIdle)
      #expect(value(of: thread, Self.policy) == 5)
      #expect(thread.precedence == .whenIdle)
      thread.lower(to: .behind)
      #expect(thread.precedence == .whenIdle)
      #expect(value(of: WorkerThread(name: "other"), Self.policy) == 0)
    }

    @Test func `runs as the process does, whoever makes it`() {
      let made = Mutex<WorkerThread?>(nil)
      let maker = WorkerThread(name: "maker")
      maker.lower(to: .behind)
      value(of: maker) { made.withLock { $0 = WorkerThread(name: "made") } }
      let thread = made.withLock { $0! }
      // To raise it takes a privilege.
      if geteuid() == 0 { #expect(niceness(of: thread) == getpriority(.init(0), id_t(getpid()))) }
    }

    @Test func `runs as any other until it is told to let others go first`() {
      let thread = WorkerThread(name: "one")
      let before = niceness(of: thread)
      #expect(before == Self.niceness)
      #expect(thread.precedence == .equal)
      thread.lower(to: .behind)
      #expect(thread.precedence == .behind)
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
      thread.lower(to: .behind)
      told.signal()
      done.wait()
      #expect(after.withLock { $0 } > before)
    }

    @Test func `lets others go first from its beginning where it is told so at once`() {
      for _ in 0..<50 {
        let thread = WorkerThread(name: "one")
        thread.lower(to: .behind)
        #expect(niceness(of: thread) > Self.niceness)
      }
    }
  }
#endif
