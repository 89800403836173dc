import Testing

@testable import ServerSentEvents

@Suite struct EventEncoderTests {
  private func text(_ body: (inout EventEncoder) -> Void) -> String {
    var encoder = EventEncoder()
    body(&encoder)
    return String(decoding: encoder.bytes, as: UTF8.self)
  }

  @Test func `an event is its fields and an empty line`() {
    let event = text {
      $0.append(type: "snapshot", id: EventID("a-1"), data: Array("{}".utf8))
    }
    #expect(event == "event: snapshot\nid: a-1\ndata: {}\n\n")
  }

  @Test func `data is split at every kind of line end`() {
    #expect(
      text { $0.append(data: "a\nb\rc\r\nd\n\re".utf8) }
        == "data: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: e\n")
    #expect(text { $0.append(data: "a\n".utf8) } == "data: a\ndata: \n")
    #expect(text { $0.append(data: "".utf8) } == "data: \n")
  }

  @Test func `data written into the buffer is the same as data given`() {
    for data in ["", "{}", "a\nb", "\r\n", "a\r", String(repeating: "x", count: 100) + "\n"] {
      #expect(
        text { $0.append { $0 += Array(data.utf8) } } == text { $0.append(data: data.utf8) })
    }
  }

  @Test func `retry and comments are lines of their own`() {
    #expect(text { $0.append(retry: 2000) } == "retry: 2000\n")
    #expect(text { $0.append(comment: "still\nhere") } == ": still\n: here\n")
    #expect(text { $0.append(comment: "") } == ": \n")
  }

  @Test func `a name or an id that would break its line cannot be made`() {
    #expect(EventType(checking: "a\nb") == nil)
    #expect(EventType(checking: "a\rb") == nil)
    #expect(EventType(checking: "") == nil)
    #expect(EventID("a\r\nb") == nil)
    #expect(EventID("a\0") == nil)
    #expect(EventID("") != nil)
  }

  @Test func `line ends are found wherever they are`() {
    for count in 0..<100 {
      for end in 0..<count {
        var bytes = [UInt8](repeating: 0x0B, count: count)
        bytes[end] = end % 2 == 0 ? 10 : 13
        for start in 0...count {
          let found = bytes.withUnsafeBytes { LineScanner.lineEnd(in: $0, from: start) }
          #expect(found == (start <= end ? end : nil))
        }
      }
    }
  }
}
