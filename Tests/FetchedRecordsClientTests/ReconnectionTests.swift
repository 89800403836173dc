import ServerSentEvents
import Testing

@testable import FetchedRecordsClient

@Suite struct `The waits after failures` {
  private let now = ContinuousClock.now

  @Test func `are drawn below a bound that doubles, and ends at half a minute`() {
    var backoff = Backoff()
    let bounds = (0..<9).map { _ in backoff.next(at: now, random: 1) }
    #expect(
      bounds == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { Duration.seconds($0) })
    #expect(backoff.next(at: now, random: 0) == .zero)
  }

  @Test func `begin anew after a minute without one, and after what was good`() {
    var backoff = Backoff()
    for _ in 0..<5 { _ = backoff.next(at: now, random: 1) }
    #expect(backoff.next(at: now + .seconds(61), random: 1) == .milliseconds(500))
    _ = backoff.next(at: now + .seconds(62), random: 1)
    backoff.reset()
    #expect(backoff.next(at: now + .seconds(63), random: 1) == .milliseconds(500))
  }

  @Test func `are what the server wants at least, and as wide apart as it says`() {
    var backoff = Backoff()
    #expect(
      backoff.next(at: now, atLeast: .seconds(3), spread: .seconds(6), random: 0.5) == .seconds(6))
    #expect(backoff.next(at: now, atLeast: .seconds(3), random: 1) == .seconds(4))
  }
}

@Suite struct `How long a stream may be silent` {
  private let now = ContinuousClock.now

  @Test func `is two of the longest heartbeats, until three have come closer`() {
    var pulse = Pulse()
    #expect(pulse.silence == .seconds(32))
    for beat in 0..<3 { pulse.heard("heartbeat", at: now + .seconds(beat)) }
    #expect(pulse.silence == .seconds(32))
    pulse.heard("heartbeat", at: now + .seconds(3))
    #expect(pulse.silence == .seconds(4))
  }

  @Test func `does not count what lies between a heartbeat and a change`() {
    var pulse = Pulse()
    for beat in 0..<8 {
      pulse.heard(beat % 2 == 0 ? "heartbeat" : "didChange", at: now + .seconds(beat))
    }
    #expect(pulse.silence == .seconds(32))
  }

  @Test func `takes the longest of the last three, for one may have been held back`() {
    var pulse = Pulse()
    for time in [0, 5, 6, 10] { pulse.heard("heartbeat", at: now + .seconds(time)) }
    #expect(pulse.silence == .seconds(12))
  }
}

@Suite struct `Streams that are cut` {
  private let now = ContinuousClock.now

  @Test func `live equally long where something on the way cuts them`() {
    var cuts = Cuts()
    func isRegular(_ life: Double, at time: Double) -> Bool {
      cuts.isRegular(.seconds(life), at: now + .seconds(time))
    }
    #expect(
      [isRegular(5, at: 0), isRegular(5.6, at: 10), isRegular(2, at: 20)] == [false, true, false])
    // Too far apart.
    #expect(!isRegular(2, at: 90))
    cuts.forget()
    #expect(!isRegular(2, at: 91))
  }
}

@Suite struct `The self-test's ticks` {
  private func areHeldBack(_ arrivals: [(sent: Int, came: Duration)]) -> Bool? {
    let start = ContinuousClock.now
    var ticks = Selftest.Ticks()
    for (sent, came) in arrivals {
      ticks.heard(.init(type: "tick", data: "{\"after\":\(sent)}"), at: start + came)
    }
    return ticks.areHeldBack
  }

  @Test func `come apart where nothing holds them back`() {
    #expect(
      areHeldBack([(0, .zero), (500, .milliseconds(480)), (1000, .milliseconds(1050))]) == false)
  }

  @Test func `come together where something does`() {
    #expect(areHeldBack([(0, .zero), (500, .milliseconds(1)), (1000, .milliseconds(2))]) == true)
  }

  @Test func `say nothing where there are none`() { #expect(areHeldBack([]) == nil) }
}
