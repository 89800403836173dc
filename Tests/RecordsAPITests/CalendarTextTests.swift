import GRDB
import Testing

@testable import RecordsAPI

/// SQLite's own date functions are the other opinion.
@Suite struct `A moment as text` {
  private func text(_ value: CalendarText?) -> String? {
    value.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  private func read(_ written: String) -> String? {
    Array(written.utf8).withUnsafeBytes { text(CalendarText($0, isMoment: true)) }
  }

  @Test func `of seconds since 1970 is that of SQLite, in all years of four digits`() throws {
    try DatabaseQueue().read { db in
      for seconds in stride(from: Int64(-62_167_219_200), through: 253_402_300_799, by: 31_556_951)
      {
        let expected = try String.fetchOne(
          db, sql: "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch')", arguments: [seconds])
        #expect(text(CalendarText(seconds: seconds, isMoment: true)) == expected, "\(seconds)")
      }
    }
    for seconds in [Int64.min, -62_167_219_201, 253_402_300_800, .max] {
      #expect(text(CalendarText(seconds: seconds, isMoment: true)) == nil)
    }
  }

  @Test func `of a Julian day is that of SQLite, to the millisecond`() throws {
    try DatabaseQueue().read { db in
      for day in stride(from: 1_721_059.5, to: 5_373_484.5, by: 397.123456) {
        let expected = try String.fetchOne(
          db, sql: "SELECT strftime('%Y-%m-%dT%H:%M:%f', ?)", arguments: [day])
        let found = text(CalendarText(real: day, isMoment: true))?.dropLast()
        let isWhole = expected?.hasSuffix(".000") == true
        #expect(
          found.map(String.init) == (isWhole ? expected?.dropLast(4).description : expected),
          "\(day)")
      }
    }
    for real in [-1, 0, 1_721_059, 1e15, -.infinity, .infinity, .nan, 1e300] as [Double] {
      let found = text(CalendarText(real: real, isMoment: true))
      #expect(found == (real == -1 ? "1969-12-31T23:59:59Z" : nil), "\(real)")
    }
  }

  @Test(arguments: [
    "2024-02-29", "2024-02-29 12:30", "2024-02-29 12:30:59", "2024-02-29T12:30:59.123",
    "2024-02-29 12:30Z", "2024-02-29T12:30:59 +05:30", "2024-02-29  23:59:59.5-11:00",
    "0000-01-01", "9999-12-31 23:59:59",
  ])
  func `means the moment that SQLite reads`(written: String) throws {
    let found = try #require(read(written))
    let form = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/
    let match = found.wholeMatch(of: form)
    #expect(match != nil, "\(found)")
    let sql = "SELECT strftime('%Y-%m-%d %H:%M:%f', ?) = strftime('%Y-%m-%d %H:%M:%f', ?)"
    let isSame = try DatabaseQueue().read { db in
      try Bool.fetchOne(db, sql: sql, arguments: [written, found])
    }
    #expect(isSame == true, "\(found)")
  }

  @Test(arguments: [
    "", "now", "12:30", "2024", "2024-2-9", "2024-13-01", "2024-00-01", "2024-04-31", "2023-02-29",
    "1900-02-29", "2024-02-29x", "2024-02-29 ", "2024-02-29 1:30", "2024-02-29 24:00",
    "2024-02-29 12:60", "2024-02-29 12:30:60", "2024-02-29 12:30:", "2024-02-29 12:30:00.",
    "2024-02-29 12:30 UTC", "2024-02-29 12:30+15:00", "-2024-02-29", "2460369.5", "٢٠٢٤-02-29",
    "2024-02-29 12:30:00.000000000000000000000000000",
  ])
  func `of anything else is none`(written: String) {
    #expect(read(written) == nil)
  }
}
