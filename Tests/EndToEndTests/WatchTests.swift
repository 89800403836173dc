import Testing

@testable import ServerSentEvents
@testable import didchange

/// What a stream looks like where there is no terminal.
private func shown(_ events: [(type: String, data: String)], width: Int? = nil) -> [String] {
  var printer = EventPrinter(terminal: Terminal(hasColours: false, width: width))
  return events.flatMap { printer.lines(ServerSentEvent(type: $0.type, data: $0.data)) }
}

private let willChange = (type: "willChange", data: #"{"query":"players","numberOfChanges":1}"#)
private let didChange = (
  type: "didChange", data: #"{"query":"players","version":"a-2","commit":8}"#
)

@Suite struct `An event stream at the terminal` {
  @Test func `begins with the snapshot by section`() {
    let data = #"""
      {"query":"players","version":"a-1","commit":7,"numberOfRecords":3,"sections":
      [{"index":0,"name":"Blue","numberOfRecords":2,"offset":0},
      {"index":1,"name":null,"numberOfRecords":1,"offset":2}],"records":
      [{"key":[1],"record":{"id":1}},{"key":[2],"record":{"id":2}},{"key":[3],"record":{"id":3}}]}
      """#
    #expect(
      shown([("snapshot", data)]) == [
        "players  3 records in 2 sections  commit 7, version a-1", "  Blue",
        "    [0,0] {\"id\":1}", "    [0,1] {\"id\":2}", "    [1,0] {\"id\":3}",
      ])
  }

  @Test func `shows the beginning of a long snapshot`() {
    let records = (0..<50).map { #"{"record":{"id":\#($0)}}"# }.joined(separator: ",")
    let data = #"""
      {"query":"q","version":"v","commit":1,"numberOfRecords":50,
      "sections":[{"name":null,"numberOfRecords":50,"offset":0}],"records":[\#(records)]}
      """#
    let lines = shown([("snapshot", data)])
    #expect(lines.count == EventPrinter.shownRecords + 2)
    #expect(lines.last == "    … and 30 more")
  }

  @Test(arguments: [
    ("-1", "1", 1), ("0", "-1", 1), ("9223372036854775807", "9223372036854775807", 2),
    ("0", "9223372036854775807", 1), ("1", "9223372036854775807", 1),
    ("-9223372036854775808", "9223372036854775807", -9_223_372_036_854_775_808),
  ])
  func `outlives sections that are nowhere`(offset: String, count: String, total: Int) {
    let data = #"""
      {"query":"q","version":"v","commit":1,"numberOfRecords":\#(total),"sections":
      [{"name":null,"numberOfRecords":\#(count),"offset":\#(offset)}],"records":[{"record":{"id":1}}]}
      """#
    let lines = shown([("snapshot", data)])
    #expect(lines.first?.hasPrefix("q  \(total) record") == true)
    #expect(lines.count <= 3)
  }

  @Test func `outlives what is no JSON`() {
    let snapshot = Array(
      #"{"query":"q\n","numberOfRecords":1,"sections":[{"name":"a","offset":0}],"records":[{"record":{}}]}"#
        .utf8)
    var texts = snapshot.indices.map { Array(snapshot[..<$0]) }
    for index in snapshot.indices {
      for byte in "\\\"{}[],:-".utf8 {
        var text = snapshot
        text[index] = byte
        texts.append(text)
      }
    }
    for text in texts {
      for type in ["snapshot", "willChange", "sectionChange", "change", "didChange", "fetchError"] {
        _ = shown([(type, String(decoding: text, as: UTF8.self)), didChange])
      }
    }
    #expect(shown([("snapshot", "")]).count == 1)
  }

  @Test(arguments: [
    (
      #"{"type":"move","indexPath":[0,1],"newIndexPath":[1,0],"changes":{"team":"Blue"},"record":{"id":2}}"#,
      #"  ~ move [0,1] → [1,0] {"id":2}  team was Blue"#
    ),
    (
      #"{"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"changes":{"a":null,"b":"x\"y"},"record":{}}"#,
      #"  = update [0,1] {}  a was null, b was x"y"#
    ),
    (
      #"{"type":"insertion","newIndexPath":[0,0],"record":{"z":1,"a":[1,{"b":"}"}]}}"#,
      #"  + insertion [0,0] {"z":1,"a":[1,{"b":"}"}]}"#
    ),
    (
      #"{"type":"deletion","indexPath":[3,2],"record":{"id":9223372036854775807}}"#,
      #"  - deletion [3,2] {"id":9223372036854775807}"#
    ),
  ])
  func `shows a change in a line, as the server wrote it`(data: String, line: String) {
    let lines = shown([willChange, ("change", data), didChange])
    #expect(lines == ["players  1 change  commit 8, version a-2", line])
  }

  @Test func `shows a change set when it is whole`() {
    let insertion = (type: "sectionChange", data: #"{"type":"insertion","section":1,"name":"Red"}"#)
    #expect(shown([willChange, insertion]).isEmpty)
    #expect(shown([willChange, insertion, willChange, insertion, didChange]).count == 2)
  }

  @Test func `ends a change set with what was read alongside`() {
    let data = #"{"query":"q","version":"v","commit":1,"alongside":{"total":3,"leader":"Ana"}}"#
    #expect(shown([("didChange", data)]).last == "  total 3, leader Ana")
  }

  @Test func `tells of errors and of events that it does not know`() {
    let data = #"{"query":"q","status":503,"title":"Busy","detail":"a writer holds the lock"}"#
    #expect(shown([("fetchError", data)]) == ["! q 503 Busy a writer holds the lock"])
    #expect(shown([("news", "x")]) == ["news x"])
    #expect(shown([("commit", #"{"commit":8}"#)]).isEmpty)
  }

  @Test func `keeps to the width of the terminal and takes no commands from data`() {
    let data =
      "{\"type\":\"insertion\",\"newIndexPath\":[0,0],\"record\":{\"a\":\"\u{9B}31m0123456789\"}}"
    let lines = shown([("change", data), didChange], width: 36)
    #expect(lines.last == "  + insertion [0,0] {\"a\":\"\u{FFFD}31m01234…")
    #expect(lines.last?.count == 36)
  }
}
