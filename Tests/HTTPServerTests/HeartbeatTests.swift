import Testing

@testable import HTTPServer

/// The wheel may be two ticks late, and the silence must not be longer than was asked for.
@Test(arguments: [Duration.milliseconds(50), .milliseconds(100), .seconds(1), .seconds(15)])
func `a heartbeat is due early enough`(interval: Duration) throws {
  let broadcast = Broadcast(capacity: 1000)
  let start = Moment(nanoseconds: 1_234_567_890)
  let stream = ActiveStream(
    StreamBody(
      broadcast: broadcast, position: broadcast.end,
      heartbeat: Heartbeat(bytes: [], interval: interval)),
    exchange: 1, isChunked: true, now: start, lateness: .milliseconds(50))
  let deadline = try #require(stream.heartbeatDue)
  #expect(deadline > start)
  guard interval > .milliseconds(100) else { return }
  var wheel = TimerWheel(now: start, tick: .milliseconds(50))
  wheel.schedule(1, at: deadline)
  let fires = try #require(wheel.next)
  #expect(fires <= start + interval)
  #expect(fires > start + (interval - .milliseconds(101)))
  #expect(wheel.advance(to: fires) == [1])
}
