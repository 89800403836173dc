/// A day of the Gregorian calendar, which SQLite extends to all years.
struct CalendarDay: Equatable {
  let year: Int
  let month: Int
  let day: Int

  /// The day so many days after the first of 1970.
  ///
  /// H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`:
  /// https://howardhinnant.github.io/date_algorithms.html. Years begin in March there, so that the leap
  /// day is the last of its year.
  init(since1970 days: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// How many days a month has.
  static func count(month: Int, year: Int) -> Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
