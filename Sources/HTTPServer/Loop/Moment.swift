/// A point on the clock that only goes forward: setting the system's clock moves no deadline.
struct Moment: Sendable, Comparable {
  var nanoseconds: Int64

  static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

  static func + (moment: Moment, duration: Duration) -> Moment {
    Moment(nanoseconds: moment.nanoseconds + duration.wholeNanoseconds)
  }

  static func - (left: Moment, right: Moment) -> Duration {
    .nanoseconds(left.nanoseconds - right.nanoseconds)
  }
}

extension Duration {
  var wholeNanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
