/// A day or a moment of it as ISO 8601 has them, in the profile of RFC 3339: `2024-02-29`,
/// `2024-02-29T12:30:00Z`.
///
/// Text is read in the forms that SQLite's date functions read and that name a day, and numbers as they
/// do: https://www.sqlite.org/lang_datefunc.html#time_values. Nothing of a value is left out: two that
/// look the same mean the same moment.
struct CalendarText {
  private(set) var bytes: [UInt8]

  /// What text means; nil: no day.
  ///
  /// Without a zone it is in UTC, as all of SQLite's functions have it.
  ///
  /// - Parameters:
  ///   - text: `YYYY-MM-DD`, and behind a space or a `T` maybe `HH:MM`, seconds, a fraction, and `Z` or
  ///     `±HH:MM`.
  ///   - isMoment: whether a day by itself is its first moment.
  init?(_ text: UnsafeRawBufferPointer, isMoment: Bool) {
    // The longest has a fraction of 9 digits and a zone.
    guard text.count >= 10, text.count <= 40, Self.isDay(text) else { return nil }
    bytes = Array(text[..<10])
    if text.count == 10 {
      if isMoment { bytes += "T00:00:00Z".utf8 }
      return
    }
    var rest = Scanner(text, at: 10)
    guard rest.skip(UInt8(ascii: "T")) || rest.skipSpaces() else { return nil }
    guard let time = rest.time() else { return nil }
    bytes.append(UInt8(ascii: "T"))
    bytes += time
    rest.skipSpaces()
    guard let zone = rest.zone(), rest.isAtEnd else { return nil }
    bytes += zone
  }

  private static func isDay(_ text: UnsafeRawBufferPointer) -> Bool {
    var scanner = Scanner(text, at: 0)
    guard let year = scanner.number(4, 0...9999), scanner.skip(UInt8(ascii: "-")),
      let month = scanner.number(2, 1...12), scanner.skip(UInt8(ascii: "-")),
      let day = scanner.number(2, 1...31)
    else { return false }
    return day <= CalendarDay.count(month: month, year: year)
  }
}

// Numbers.
extension CalendarText {
  /// Seconds since 1970 of the years 0000 to 9999.
  private static let seconds = -62_167_219_200...253_402_300_799
  /// Of the years -4713 to 9999: https://www.sqlite.org/lang_datefunc.html, "auto".
  private static let julianDays = 0.0..<5_373_484.5

  /// Seconds since 1970; nil: no day that four digits name the year of, as where milliseconds are
  /// meant.
  init?(seconds: Int64, isMoment: Bool) {
    guard Self.seconds ~= Int(seconds) else { return nil }
    self.init(milliseconds: Int(seconds) * 1000, isMoment: isMoment)
  }

  /// A Julian day number, or seconds since 1970 where it is too large or too small for one, to the
  /// millisecond.
  init?(real: Double, isMoment: Bool) {
    if Self.julianDays.contains(real) {
      let milliseconds = Int(real * 86_400_000 + 0.5) - 210_866_760_000_000
      guard Self.seconds ~= Int((Double(milliseconds) / 1000).rounded(.down)) else { return nil }
      self.init(milliseconds: milliseconds, isMoment: isMoment)
    } else {
      guard abs(real) < 1e12, Self.seconds ~= Int(real.rounded(.down)) else { return nil }
      self.init(milliseconds: Int((real * 1000).rounded(.down)), isMoment: isMoment)
    }
  }

  private init(milliseconds: Int, isMoment: Bool) {
    let (days, rest) = milliseconds.flooredDivision(by: 86_400_000)
    let day = CalendarDay(since1970: days)
    bytes = []
    bytes.append(day.year, digits: 4)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(day.month, digits: 2)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(day.day, digits: 2)
    guard isMoment || rest > 0 else { return }
    for (mark, value) in zip("T::".utf8, [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60]) {
      bytes.append(mark)
      bytes.append(value, digits: 2)
    }
    if rest % 1000 > 0 {
      bytes.append(UInt8(ascii: "."))
      bytes.append(rest % 1000, digits: 3)
    }
    bytes.append(UInt8(ascii: "Z"))
  }
}

/// Reads the parts of a text from left to right.
private struct Scanner {
  private let text: UnsafeRawBufferPointer
  private var position: Int

  init(_ text: UnsafeRawBufferPointer, at position: Int) {
    self.text = text
    self.position = position
  }

  var isAtEnd: Bool { position == text.count }

  mutating func skip(_ byte: UInt8) -> Bool {
    guard position < text.count, text[position] == byte else { return false }
    position += 1
    return true
  }

  @discardableResult
  mutating func skipSpaces() -> Bool {
    let start = position
    while skip(UInt8(ascii: " ")) {}
    return position > start
  }

  mutating func number(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
    guard position + digits <= text.count else { return nil }
    var value = 0
    for byte in text[position..<position + digits] {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    position += digits
    return range ~= value ? value : nil
  }

  /// `HH:MM`, maybe seconds and their fraction, with seconds.
  mutating func time() -> [UInt8]? {
    let start = position
    guard number(2, 0...23) != nil, skip(UInt8(ascii: ":")), number(2, 0...59) != nil else {
      return nil
    }
    guard skip(UInt8(ascii: ":")) else { return Array(text[start..<position]) + Array(":00".utf8) }
    guard number(2, 0...59) != nil else { return nil }
    if skip(UInt8(ascii: ".")) {
      let fraction = position
      while number(1, 0...9) != nil {}
      guard position > fraction else { return nil }
    }
    return Array(text[start..<position])
  }

  /// `Z`, `±HH:MM`, or nothing, which is `Z`.
  mutating func zone() -> [UInt8]? {
    if isAtEnd || skip(UInt8(ascii: "Z")) || skip(UInt8(ascii: "z")) { return [UInt8(ascii: "Z")] }
    let start = position
    guard skip(UInt8(ascii: "+")) || skip(UInt8(ascii: "-")), number(2, 0...14) != nil,
      skip(UInt8(ascii: ":")), number(2, 0...59) != nil
    else { return nil }
    return Array(text[start..<position])
  }
}

extension Int {
  fileprivate func flooredDivision(by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension [UInt8] {
  /// Appends a number with zeros before it.
  fileprivate mutating func append(_ number: Int, digits: Int) {
    let text = String(number)
    append(
      contentsOf: repeatElement(UInt8(ascii: "0"), count: Swift.max(0, digits - text.utf8.count)))
    append(contentsOf: text.utf8)
  }
}
