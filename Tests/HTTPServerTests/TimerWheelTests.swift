import Testing

@testable import HTTPServer

private func at(_ milliseconds: Int64) -> Moment { Moment(nanoseconds: milliseconds * 1_000_000) }

@Test func `an entry fires at its time or up to two ticks later`() {
  var wheel = TimerWheel(now: at(1234))
  wheel.schedule(7, at: at(2000))
  #expect(wheel.advance(to: at(1999)) == [])
  #expect(wheel.next.map { $0 >= at(2000) && $0 <= at(2100) } == true)
  #expect(wheel.advance(to: at(2100)) == [7])
  #expect(wheel.next == nil)
  #expect(wheel.count == 0)
}

@Test func `an entry of the past fires at the next turn`() {
  var wheel = TimerWheel(now: at(5000))
  _ = wheel.advance(to: at(5000))
  wheel.schedule(1, at: at(10))
  #expect(wheel.advance(to: at(5050)) == [1])
}

@Test func `an entry beyond the wheel fires early, to be scheduled again`() {
  var wheel = TimerWheel(now: at(0))
  wheel.schedule(1, at: at(600_000))
  #expect(wheel.advance(to: at(40_000)) == [])
  #expect(wheel.advance(to: at(52_000)) == [1])
}

@Test func `a long sleep loses nothing`() {
  var wheel = TimerWheel(now: at(0))
  for token in 0..<1000 { wheel.schedule(UInt64(token), at: at(Int64(token) * 37)) }
  #expect(Set(wheel.advance(to: at(10_000_000))).count == 1000)
  #expect(wheel.count == 0)
}

@Test func `random entries fire once, never early within the wheel, and not late`() {
  var generator = SystemRandomNumberGenerator()
  var wheel = TimerWheel(now: at(0))
  var due: [UInt64: Int64] = [:]
  var now: Int64 = 0
  for token in 0..<5000 as Range<UInt64> {
    let moment = now + Int64.random(in: 0..<20_000, using: &generator)
    wheel.schedule(token, at: at(moment))
    due[token] = moment
    now += Int64.random(in: 0..<200, using: &generator)
    for fired in wheel.advance(to: at(now)) {
      let moment = due.removeValue(forKey: fired)
      #expect(moment.map { $0 <= now } == true, "\(fired) fired early or twice")
    }
    #expect(due.values.allSatisfy { $0 > now - 100 }, "late at \(now)")
    if token % 500 != 0 { due = due.filter { $0.value > now - 100 } }
  }
}
