import Testing

@testable import ChangeCapture

@Suite struct LookScheduleTests {
  private let start = ContinuousClock.now
  private var schedule = LookSchedule(pollInterval: .milliseconds(50))

  private func time(_ elapsed: Duration) -> ContinuousClock.Instant { start + elapsed }

  /// When a search looks that never finds anything.
  private func looks(of schedule: LookSchedule, from: Duration = .zero) -> [Duration] {
    var schedule = schedule
    var elapsed = from
    var looks: [Duration] = []
    // A look takes some time, too.
    if case .pause(.zero) = schedule.next(at: time(elapsed)) { elapsed += LookSchedule.yieldSpan }
    while true {
      switch schedule.next(at: time(elapsed)) {
      case .pause(let pause), .timer(let pause):
        elapsed += pause
        looks.append(elapsed)
      case .leaveToPoll: return looks
      }
    }
  }

  @Test func `without a notification the poll will do`() {
    var schedule = schedule
    #expect(!schedule.isRunning)
    #expect(schedule.next(at: start) == .leaveToPoll)
  }

  @Test func `whenever a commit becomes visible, it is found an eighth later at the latest`() {
    var schedule = schedule
    schedule.notified(at: start)
    let looks = looks(of: schedule)
    #expect((50...80).contains(looks.count))
    #expect(looks.prefix(3) == [.microseconds(50), .microseconds(75), .microseconds(100)])
    #expect(looks.last.map { $0 > .milliseconds(350) } == true)
    for (visible, found) in zip(looks, looks.dropFirst()) {
      #expect(found - visible <= max(.microseconds(25), found / 8))
    }
  }

  @Test func `first only others are let go before`() {
    var schedule = schedule
    schedule.notified(at: start)
    #expect(schedule.next(at: start) == .pause(.zero))
    #expect(schedule.next(at: time(.microseconds(24))) == .pause(.zero))
    #expect(schedule.next(at: time(.microseconds(25))) == .pause(.microseconds(25)))
  }

  @Test func `the thread is given back after three milliseconds`() {
    var schedule = schedule
    schedule.notified(at: start)
    #expect(schedule.next(at: time(.microseconds(30))) == .pause(.microseconds(25)))
    #expect(schedule.next(at: time(.microseconds(2999))) == .pause(.microseconds(2999) / 8))
    #expect(schedule.next(at: time(.milliseconds(4))) == .timer(.microseconds(500)))
  }

  @Test func `notifications without end do not make it start anew all the time`() {
    var schedule = schedule
    schedule.notified(at: start)
    schedule.notified(at: time(.milliseconds(8)))
    #expect(schedule.next(at: time(.milliseconds(8))) == .timer(.milliseconds(1)))
    schedule.notified(at: time(.milliseconds(10)))
    #expect(schedule.next(at: time(.milliseconds(10))) == .pause(.zero))
  }

  @Test func `after a report a few looks follow, and a notification takes over`() {
    var schedule = schedule
    schedule.reported(at: start)
    #expect(
      looks(of: schedule, from: .microseconds(250)) == [.milliseconds(2), .milliseconds(16)])
    schedule.notified(at: time(.microseconds(300)))
    #expect(schedule.next(at: time(.microseconds(300))) == .pause(.zero))
  }

  @Test func `a stop ends it`() {
    var schedule = schedule
    schedule.notified(at: start)
    schedule.stop()
    #expect(schedule.next(at: start) == .leaveToPoll)
  }
}
