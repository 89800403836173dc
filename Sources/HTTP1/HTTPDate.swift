/// Dates as HTTP writes them (RFC 9110 §5.6.7), in seconds since 1970.
package enum HTTPDate {
  static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// An IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func string(_ seconds: Int) -> String {
    let day = floorDivided(seconds, by: 86_400)
    let time = seconds - day * 86_400
    let (year, month, date) = civil(day)
    let weekday = days[((day % 7) + 7) % 7]
    return weekday + ", " + padded(date, 2) + " " + months[month - 1] + " " + padded(year, 4) + " "
      + padded(time / 3600, 2) + ":" + padded(time / 60 % 60, 2) + ":" + padded(time % 60, 2)
      + " GMT"
  }

  static func year(of seconds: Int) -> Int { civil(floorDivided(seconds, by: 86_400)).year }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  static func floorDivided(_ number: Int, by divisor: Int) -> Int {
    let quotient = number / divisor
    return number % divisor < 0 ? quotient - 1 : quotient
  }

  /// The date of a day since 1970 in the proleptic Gregorian calendar.
  ///
  /// Years are counted from March, so that the leap day comes last, in eras of 400 years.
  /// (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".)
  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = floorDivided(shifted, by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// The day since 1970 of a date: the inverse of `civil`.
  static func day(year: Int, month: Int, day: Int) -> Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = floorDivided(shiftedYear, by: 400)
    let yearOfEra = shiftedYear - era * 400
    let shiftedMonth = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
