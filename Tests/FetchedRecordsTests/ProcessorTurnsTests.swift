import Dispatch
import Foundation
import Locks
import Testing

@testable import FetchedRecords

@Suite struct `Turns of long queries` {
  private let turns = ProcessorTurns(places: 1, patience: .seconds(60))

  /// A thread that waits for its first turn, and then for each that it is told to pass.
  private final class Runner: Sendable {
    let turn: ProcessorTurn
    private let begun = DispatchSemaphore(value: 0)

    init(_ turns: ProcessorTurns) { turn = ProcessorTurn(turns) }

    func begin() {
      let thread = WorkerThread(name: "runner")
      thread.perform { [self] in
        turn.begin()
        begun.signal()
      }
    }

    /// Whether it has had its first turn within a while.
    func hasBegun(within time: DispatchTimeInterval = .seconds(60)) -> Bool {
      begun.wait(timeout: .now() + time) == .success
    }

    func pass(after milliseconds: UInt64) -> Bool {
      turn.pass(at: DispatchTime.now().uptimeNanoseconds + milliseconds * 1_000_000)
    }
  }

  private func waits(_ queue: ProcessorTurns.Queue) throws {
    try eventually("\(queue) wait") { turns.waiting == queue }
  }

  private func eventually(_ what: String, _ condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !condition() {
      try #require(ContinuousClock.now < deadline, "it did not come to this: \(what)")
      sched_yield()
    }
  }

  @Test func `a newcomer begins where one place is free, and else waits`() throws {
    let (first, second) = (Runner(turns), Runner(turns))
    first.begin()
    #expect(first.hasBegun())
    second.begin()
    try waits(.newcomers)
    first.turn.end()
    #expect(second.hasBegun())
    #expect(turns.waiting == .nobody)
  }

  @Test func `a newcomer goes before those who have had a turn`() throws {
    let (first, second) = (Runner(turns), Runner(turns))
    first.begin()
    #expect(first.hasBegun())
    #expect(!first.pass(after: 1000), "nobody else wants to run")
    second.begin()
    try waits(.newcomers)
    let passed = Atomic(false)
    let thread = WorkerThread(name: "passes")
    thread.perform {
      _ = first.pass(after: 2)
      passed.store(true, ordering: .sequentiallyConsistent)
    }
    #expect(second.hasBegun())
    try waits(.others)
    #expect(!second.pass(after: 2), "its slice is not over")
    second.turn.end()
    try eventually("the first goes on") { passed.load(ordering: .sequentiallyConsistent) }
  }

  @Test func `who waits can be told to go on without a place`() throws {
    let (first, second) = (Runner(turns), Runner(turns))
    first.begin()
    #expect(first.hasBegun())
    second.begin()
    try waits(.newcomers)
    second.turn.cancel()
    #expect(second.hasBegun())
    second.turn.end()
    first.turn.end()
    let third = Runner(turns)
    third.begin()
    #expect(third.hasBegun(), "the place was given back once")
    let fourth = Runner(turns)
    fourth.begin()
    try waits(.newcomers)
    third.turn.end()
    #expect(fourth.hasBegun())
  }

  /// Two of whom one has the only place, and the other goes on without one.
  private func twoBeyondPlaces(of turns: ProcessorTurns) -> (Runner, Runner) {
    let (first, second) = (Runner(turns), Runner(turns))
    first.begin()
    #expect(first.hasBegun())
    second.begin()
    #expect(second.hasBegun())
    return (first, second)
  }

  @Test func `who waits goes on where the others are stuck`() throws {
    let turns = ProcessorTurns(places: 1, patience: .milliseconds(5))
    let (first, second) = twoBeyondPlaces(of: turns)
    #expect(turns.waiting == .nobody)
    second.turn.end()
    first.turn.end()
    let third = Runner(turns)
    third.begin()
    #expect(third.hasBegun(), "there are as many places as before")
  }

  /// On a machine that is busy nobody comes to give a place back: room is made for others by how long
  /// each has run, with a place or without.
  @Test func `what runs without a place is counted`() throws {
    let turns = ProcessorTurns(places: 1, patience: .milliseconds(5))
    let (first, second) = twoBeyondPlaces(of: turns)
    try eventually("20 ms are counted") { second.turn.ownTime > .milliseconds(20) }
    second.turn.reset()
    #expect(second.turn.ownTime < .milliseconds(20))
    second.turn.end()
    first.turn.end()
  }
}
