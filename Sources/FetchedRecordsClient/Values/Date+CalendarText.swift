import Foundation

extension Date {
  /// `YYYY-MM-DD`, or the same with a time and a zone (RFC 3339 §5.6); nil: it is neither.
  ///
  /// Foundation's `ISO8601FormatStyle` takes days that no calendar has, and counts those before 1582 as
  /// the Julian calendar does; SQLite and the server do neither.
  init?(calendarText text: String) {
    var scanner = CalendarScanner(text)
    guard let year = scanner.number(digits: 4), scanner.skip("-"),
      let month = scanner.number(digits: 2), scanner.skip("-"),
      let day = scanner.number(digits: 2), let days = Self.days(year, month, day)
    else { return nil }
    var seconds = Double(days * 86400)
    if !scanner.isAtEnd {
      guard scanner.skip("T"), let time = scanner.time(), let zone = scanner.zone() else {
        return nil
      }
      seconds += time - Double(zone)
    }
    guard scanner.isAtEnd else { return nil }
    self.init(timeIntervalSince1970: seconds)
  }

  /// Days since 1970 in the Gregorian calendar, which is taken to have been always; nil: there is no
  /// such day.
  ///
  /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let length =
      switch month {
      case 2: isLeap ? 29 : 28
      case 4, 6, 9, 11: 30
      default: 31
      }
    guard (1...12).contains(month), (1...length).contains(day) else { return nil }
    // Years that begin in March; eras of 400, of which year 0 begins one.
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

/// Reads the parts of a date, one after the other.
private struct CalendarScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(digits: Int) -> Int? {
    var number = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  /// Seconds since midnight. A leap second is the first one of the next minute.
  mutating func time() -> Double? {
    guard let hour = number(digits: 2), hour < 24, skip(":"),
      let minute = number(digits: 2), minute < 60, skip(":"),
      let second = number(digits: 2), second <= 60
    else { return nil }
    var fraction = 0.0
    if skip(".") {
      var scale = 0.1
      guard let first = digit() else { return nil }
      fraction = Double(first) * scale
      while let digit = digit() {
        scale /= 10
        fraction += Double(digit) * scale
      }
    }
    return Double(hour * 3600 + minute * 60 + second) + fraction
  }

  /// Seconds east of Greenwich.
  mutating func zone() -> Int? {
    if skip("Z") { return 0 }
    let sign = skip("+") ? 1 : skip("-") ? -1 : 0
    guard sign != 0, let hour = number(digits: 2), hour < 24, skip(":"),
      let minute = number(digits: 2), minute < 60
    else { return nil }
    return sign * (hour * 3600 + minute * 60)
  }

  private mutating func digit() -> Int? {
    guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
      return nil
    }
    rest.removeFirst()
    return Int(byte - UInt8(ascii: "0"))
  }
}
