import HTTP1
import Testing

/// In 2026.
private let now = 1_780_000_000

@Test(arguments: [
  (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
  // RFC 9110 §5.6.7
  (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
  (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
  (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
  (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
  (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
]) func `a date is written and read`(seconds: Int, text: String) {
  #expect(HTTPDate.string(seconds) == text)
  #expect(HTTPDate.seconds(text, now: now) == seconds)
}

@Test func `every day of 400 years comes back`() {
  for day in stride(from: -20_000, to: 146_097, by: 1) {
    let seconds = day * 86_400 + 12_345
    #expect(HTTPDate.seconds(HTTPDate.string(seconds), now: now) == seconds)
  }
}

@Test(arguments: ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
func `the obsolete forms are read`(text: String) {
  #expect(HTTPDate.seconds(text, now: now) == 784_111_777)
}

@Test(arguments: [
  "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 24:49:37 GMT",
  "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
]) func `what is not a date is none`(text: String) {
  #expect(HTTPDate.seconds(text, now: now) == nil)
}

/// RFC 9110 §5.6.7: more than 50 years ahead is past.
@Test(arguments: [
  ("1994", "Sunday, 06-Nov-44 08:49:37 GMT", "Mon, 06 Nov 1944 08:49:37 GMT"),
  ("1994", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
  ("2026", "Sunday, 06-Nov-75 08:49:37 GMT", "Wed, 06 Nov 2075 08:49:37 GMT"),
  ("2026", "Sunday, 06-Nov-76 08:49:37 GMT", "Sat, 06 Nov 1976 08:49:37 GMT"),
  ("2027", "Sunday, 06-Nov-76 08:49:37 GMT", "Fri, 06 Nov 2076 08:49:37 GMT"),
  ("2077", "Sunday, 06-Nov-94 08:49:37 GMT", "Sat, 06 Nov 2094 08:49:37 GMT"),
]) func `two digits of a year are read by the clock`(year: String, text: String, meant: String)
  throws
{
  let now = try #require(HTTPDate.seconds("Thu, 01 Jan \(year) 00:00:00 GMT", now: 0))
  #expect(HTTPDate.seconds(text, now: now).map(HTTPDate.string) == meant)
}
