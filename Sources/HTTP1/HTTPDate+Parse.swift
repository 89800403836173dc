import Foundation

extension HTTPDate {
  /// Reads the three forms that RFC 9110 §5.6.7 asks a recipient to accept: IMF-fixdate, the one of
  /// RFC 850, and C's asctime.
  ///
  /// Nil where it is none of them.
  ///
  /// The name of the day is not compared with the date.
  ///
  /// - Parameters:
  ///   - text: The date.
  ///   - now: Seconds since 1970: the two digits of RFC 850 mean a year of this century, or of the
  ///     last one where that is more than 50 years ahead.
  /// - Returns: Seconds since 1970.
  package static func seconds(_ text: String, now: Int) -> Int? {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
    switch words.count {
    case 6 where words[5] == "GMT" && text.contains("-"):
      guard let short = number(words[3], digits: 2) else { return nil }
      let year = year(of: now) / 100 * 100 + short
      let date = seconds(day: words[1], month: words[2], year: year, time: words[4])
      guard let date, date > now + fiftyYears else { return date }
      return seconds(day: words[1], month: words[2], year: year - 100, time: words[4])
    case 6 where words[5] == "GMT":
      guard let year = number(words[3], digits: 4) else { return nil }
      return seconds(day: words[1], month: words[2], year: year, time: words[4])
    case 5:
      guard let year = number(words[4], digits: 4) else { return nil }
      return seconds(day: words[2], month: words[1], year: year, time: words[3])
    default: return nil
    }
  }

  /// Of 365.2425 days.
  private static let fiftyYears = 50 * 31_556_952

  private static func seconds(
    day: Substring, month: Substring, year: Int, time: Substring
  ) -> Int? {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = number(parts[0], digits: 2), hour < 24,
      let minute = number(parts[1], digits: 2), minute < 60,
      let second = number(parts[2], digits: 2), second < 61,
      let month = months.firstIndex(where: { $0 == month }),
      let date = number(day, digits: day.utf8.count), (1...31).contains(date)
    else { return nil }
    var moment = tm()
    (moment.tm_year, moment.tm_mon) = (Int32(year - 1900), Int32(month))
    moment.tm_mday = Int32(date)
    (moment.tm_hour, moment.tm_min, moment.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
    return timegm(&moment)
  }

  private static func number(_ text: Substring, digits: Int) -> Int? {
    guard text.utf8.count == digits, digits <= 4, text.utf8.allSatisfy(\.isDigit) else {
      return nil
    }
    return Int(text)
  }
}
