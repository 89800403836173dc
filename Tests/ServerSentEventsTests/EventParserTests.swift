import Testing

@testable import ServerSentEvents

@Suite struct EventParserTests {
  @Test func `the first example of the standard: lines of data are joined`() {
    let reading = Reading("data: YHOO\ndata: +2\ndata: 10\n\n")
    #expect(reading.events == [ServerSentEvent(data: "YHOO\n+2\n10")])
  }

  @Test func `the second example: a comment, an id, an id reset, and an unfinished event`() {
    let reading = Reading(
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event")
    #expect(
      reading.events == [
        ServerSentEvent(data: "first event", lastEventID: "1"),
        ServerSentEvent(data: "second event"),
      ])
    #expect(reading.lastEventID == "")
  }

  @Test func `the third example: empty data is dispatched where a data line was`() {
    let reading = Reading("data\n\ndata\ndata\n\ndata:")
    #expect(reading.events == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")])
  }

  @Test func `the fourth example: one space after the colon is dropped`() {
    let reading = Reading("data:test\n\ndata: test\n\ndata:  test\n\n")
    #expect(reading.events.map(\.data) == ["test", "test", " test"])
  }

  @Test func `an event without data is not dispatched, but its id is remembered`() {
    let reading = Reading("event: x\nid: 7\n\ndata: a\n\n")
    #expect(reading.events == [ServerSentEvent(data: "a", lastEventID: "7")])
    #expect(Reading("id: 7\n\n").lastEventID == "7")
  }

  @Test func `the id of an event that is not complete is not remembered`() {
    #expect(Reading("id: 1\n\nid: 2\ndata: x\n").lastEventID == "1")
  }

  @Test(arguments: ["\n", "\r", "\r\n"])
  func `every line end will do`(_ end: String) {
    let lines = ["event: x", "data: 1", "data: 2", "", "data: 3", "", ""]
    let reading = Reading(lines.joined(separator: end))
    #expect(
      reading.events == [
        ServerSentEvent(type: "x", data: "1\n2"), ServerSentEvent(data: "3"),
      ])
  }

  @Test func `a CR before an LF ends one line, before a CR two`() {
    #expect(Reading("data: 1\r\ndata: 2\n\r").events.map(\.data) == ["1\n2"])
    #expect(Reading("data: 1\r\rdata: 2\r\n\n").events.map(\.data) == ["1", "2"])
  }

  @Test func `a byte order mark at the start is dropped, once`() {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    #expect(Reading(everyWay: mark + Array("data: 1\n\n".utf8)).events.count == 1)
    #expect(Reading(everyWay: mark + mark + Array("data: 1\n\n".utf8)).events.isEmpty)
    #expect(Reading(everyWay: Array(mark[..<2]) + Array("\ndata: 1\n\n".utf8)).events.count == 1)
    #expect(
      Reading(everyWay: Array("data: 1\n".utf8) + mark + Array("\n\n".utf8)).events.count == 1)
  }

  @Test func `unknown fields and names in another case are ignored`() {
    let reading = Reading("Data: 1\nfoo: 2\n data: 3\ndata : 4\nhello\ndata: 5\n\n")
    #expect(reading.events.map(\.data) == ["5"])
  }

  @Test func `an id with a NUL is ignored`() {
    let reading = Reading("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n")
    #expect(reading.events.map(\.lastEventID) == ["1", "1"])
  }

  @Test func `an event type is the last one given, and is not kept`() {
    let reading = Reading("event: a\nevent: b\ndata\n\ndata\n\nevent: c\nevent\ndata\n\n")
    #expect(reading.events.map(\.type) == ["b", "message", "message"])
  }

  @Test func `a reconnection time has digits only`() {
    #expect(Reading("retry: 1500\n").reconnectionTime == 1500)
    #expect(
      Reading("retry: 1\nretry: -2\nretry: 3s\nretry: 0x4\nretry\nretry:  5\n").reconnectionTime
        == 1)
    #expect(Reading("retry: 99999999999999999999999\n").reconnectionTime == nil)
  }

  @Test func `reconnection times are counted`() throws {
    var parser = EventParser()
    try parser.parse("retry: 1\nretry\nretry: x\n\nretry: 2\n".utf8) { _ in }
    #expect(parser.numberOfRetries == 2 && parser.reconnectionTime == 2)
  }

  @Test func `a parser knows whether the rest of an event is to come`() throws {
    var parser = EventParser()
    for (text, isWithinEvent) in [
      ("", false), (": comment\n\n", false), ("event: a\n", true), ("data: 1\n", true),
      ("\n", false),
      ("data", true), ("\n\n", false),
    ] {
      try parser.parse(text.utf8) { _ in }
      #expect(parser.isWithinEvent == isWithinEvent, "\(text)")
    }
  }

  @Test func `text that is not UTF-8 is repaired`() {
    let reading = Reading(everyWay: Array("data: a".utf8) + [0xC3] + Array("\n\n".utf8))
    #expect(reading.events.map(\.data) == ["a\u{FFFD}"])
  }

  @Test func `an event or a line that is too long is an error, and events before it are not`() {
    let limit = EventParserError.eventTooLarge(limit: 20)
    for long in [
      "data: 12345678901234567890\n\n", ":comment without an end",
      "data: 1234567\ndata: 1234567\ndata: 1\n\n", "event: 1234567890\ndata: 1234567\n",
    ] {
      let reading = Reading("data: 1\n\n" + long, maximumEventSize: 20)
      #expect(reading.events.map(\.data) == ["1"])
      #expect(reading.failure == limit, "\(long)")
    }
    #expect(Reading("data: 12345678901234\n\n", maximumEventSize: 20).failure == nil)
  }

  @Test func `a parser that has failed stays so`() {
    var parser = EventParser(maximumEventSize: 3)
    #expect(throws: EventParserError.self) { try parser.parse("data".utf8) { _ in } }
    #expect(throws: EventParserError.self) { try parser.parse("\n\n".utf8) { _ in } }
  }

  @Test func `a parser goes on from the id of an earlier stream`() throws {
    var parser = EventParser(lastEventID: "5")
    var ids: [String] = []
    try parser.parse("data\n\nid: 6\ndata\n\n".utf8) { ids.append($0.lastEventID) }
    #expect(ids == ["5", "6"])
  }
}
