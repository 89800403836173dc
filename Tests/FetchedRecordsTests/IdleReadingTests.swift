import Foundation
import Testing

@testable import FetchedRecords

@Suite struct `What runs only while nobody else wants the processor` {
  private static let begin = ContinuousClock.now

  /// One that has seen how much of a second nobody wanted.
  private func reading(unused: Duration?, over window: Duration = .seconds(1)) -> IdleReading {
    var reading = IdleReading(
      since: IdleReading.Sample(time: Self.begin - window, unused: .seconds(100)))
    reading.note(
      IdleReading.Sample(time: Self.begin, unused: unused.map { .seconds(100) + $0 }))
    return reading
  }

  @Test func `needs a fifth of a processor that was left over lately`() {
    for (unused, isWorthwhile) in [(0, false), (190, false), (200, true), (4000, true)] {
      let reading = reading(unused: .milliseconds(unused))
      #expect(reading.isWorthwhile(at: Self.begin) == isWorthwhile, "\(unused) ms")
    }
    #expect(!IdleReading().isWorthwhile(at: Self.begin))
    #expect(!reading(unused: nil).isWorthwhile(at: Self.begin))
    #expect(reading(unused: .seconds(12), over: .seconds(60)).isWorthwhile(at: Self.begin))
    #expect(!reading(unused: .seconds(11), over: .seconds(60)).isWorthwhile(at: Self.begin))
  }

  @Test func `looks again after a while`() {
    let reading = reading(unused: .zero)
    #expect(!reading.isDue(at: Self.begin + .milliseconds(99)))
    #expect(reading.isDue(at: Self.begin + .milliseconds(100)))
    #expect(!reading.isDue(forCommit: true, at: Self.begin + .milliseconds(999)))
    #expect(reading.isDue(forCommit: true, at: Self.begin + .seconds(1)))
  }

  #if os(Linux)
    @Test func `asks the system`() throws {
      let unused = try #require(IdleReading.Sample(ownUse: .seconds(5)).unused)
      let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
      let idle = try #require(text.split(separator: " ").last.flatMap { Double($0.dropLast()) })
      #expect(unused <= .seconds(5 + idle))
      #expect(try #require(IdleReading.Sample(ownUse: .zero).unused) >= .seconds(idle))
    }
  #endif

  @Test func `begins anew with a share once it has waited longer than that takes`() {
    let reading = IdleReading()
    // Milliseconds.
    for (time, processor, isInVain) in [
      (200, 0, false), (260, 0, true), (260, 5, false), (3000, 300, false), (3000, 250, true),
    ] {
      let (time, processor) = (Duration.milliseconds(time), Duration.milliseconds(processor))
      #expect(reading.isInVain(time, using: processor) == isInVain, "\(time), \(processor)")
    }
    #expect(reading.isInVain(.milliseconds(260), using: nil))
  }

  @Test func `has its share for a minute, and leaves it to others again`() {
    var reading = reading(unused: .seconds(1))
    let now = Self.begin
    #expect(reading.isWorthwhile(at: now))
    reading.pause(at: now)
    #expect(!reading.isWorthwhile(at: now + .seconds(59)))
    #expect(reading.isWorthwhile(at: now + .seconds(60)))
  }

  @Test func `has it for longer each time that others still do not rest`() {
    var reading = reading(unused: .seconds(1))
    var now = Self.begin
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
      reading.pause(at: now)
      #expect(!reading.isWorthwhile(at: now + .seconds(minutes * 60 - 1)))
      now += .seconds(minutes * 60)
      #expect(reading.isWorthwhile(at: now))
    }
    // Several that waited at the same time are one time.
    for _ in 0..<4 { reading.pause(at: now - .seconds(1)) }
    #expect(reading.isWorthwhile(at: now))
    // They have rested for as long as the last pause was.
    now += .seconds(3600)
    reading.pause(at: now)
    #expect(reading.isWorthwhile(at: now + .seconds(60)))
  }

  /// The whole way: a thread that never gets the processor shows in the turns of its statements.
  @Test func `counts the way to the processor`() throws {
    let statementGuard = StatementGuard(ProcessorTurns())
    #expect(statementGuard.turnTime == .zero)
    statementGuard.noteWakeUp()
    let begin = ContinuousClock.now
    while .now - begin < .milliseconds(2) {}
    let way = statementGuard.turnTime
    #expect(way >= .milliseconds(2))
    statementGuard.takingTurns {
      #expect(statementGuard.turnTime >= way)
    }
  }
}
