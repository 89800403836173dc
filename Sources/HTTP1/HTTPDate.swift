import Foundation

/// Dates as HTTP writes them (RFC 9110 §5.6.7), in seconds since 1970.
package enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// An IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func string(_ seconds: Int) -> String {
    let date = parts(seconds)
    return days[Int(date.tm_wday)] + ", " + padded(date.tm_mday, 2) + " "
      + months[Int(date.tm_mon)] + " " + padded(date.tm_year + 1900, 4) + " "
      + padded(date.tm_hour, 2) + ":" + padded(date.tm_min, 2) + ":" + padded(date.tm_sec, 2)
      + " GMT"
  }

  static func year(of seconds: Int) -> Int { Int(parts(seconds).tm_year) + 1900 }

  private static func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func parts(_ seconds: Int) -> tm {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    return parts
  }
}
