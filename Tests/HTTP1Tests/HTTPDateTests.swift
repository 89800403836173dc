import HTTP1
import Testing

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
  #expect(HTTPDate.seconds(text) == seconds)
}

@Test func `every day of 400 years comes back`() {
  for day in stride(from: -20_000, to: 146_097, by: 1) {
    let seconds = day * 86_400 + 12_345
    #expect(HTTPDate.seconds(HTTPDate.string(seconds)) == seconds)
  }
}

@Test(arguments: ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
func `the obsolete forms are read`(text: String) {
  #expect(HTTPDate.seconds(text) == 784_111_777)
}

@Test(arguments: [
  "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 24:49:37 GMT",
  "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
]) func `what is not a date is none`(text: String) {
  #expect(HTTPDate.seconds(text) == nil)
}
