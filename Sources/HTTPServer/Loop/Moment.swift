/// A point on the clock that only goes forward: setting the system's clock moves no deadline.
struct Moment: Sendable, Comparable {
  var nanoseconds: Int64

  static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

  static func + (moment: Moment, duration: Duration) -> Moment {
    Moment(nanoseconds: moment.nanoseconds + duration.wholeNanoseconds)
  }

  static func + (moment: Moment, interval: Interval) -> Moment {
    Moment(nanoseconds: moment.nanoseconds + interval.nanoseconds)
  }

  static func - (left: Moment, right: Moment) -> Duration {
    .nanoseconds(left.nanoseconds - right.nanoseconds)
  }
}

/// A length of time that is added to moments all the time: a `Duration` counts in 128 bits.
struct Interval: Sendable {
  let nanoseconds: Int64

  init(_ duration: Duration) { nanoseconds = duration.wholeNanoseconds }
}

extension Duration {
  package var wholeNanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
