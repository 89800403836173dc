import HTTP1
import HTTPTypes
import Testing

/// What a client gets of a response that comes in pieces.
private struct Received {
  var head: ResponseHead?
  var content: [UInt8] = []
  var isComplete = false

  init(_ pieces: [[UInt8]], limits: MessageLimits = MessageLimits()) throws(RequestError) {
    var decoder: BodyDecoder?
    var buffer: [UInt8] = []
    for piece in pieces {
      buffer += piece
      var offset = 0
      if head == nil {
        head = try ResponseHead(buffer.span, from: &offset, limits: limits)
        decoder = head?.framing.map { BodyDecoder(framing: $0, limits: limits) }
      }
      let bytes = buffer
      isComplete =
        try decoder?.decode(bytes.span, from: &offset, content: { content += bytes[$0] }) ?? false
      buffer.removeFirst(offset)
    }
  }

  var text: String { String(decoding: content, as: UTF8.self) }
}

@Suite struct `A response` {
  private let head = "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
  private let body = "4;x=y\r\nWiki\r\n00b\r\npedia \r\nin.\r\n0\r\nTrailer: t\r\n\r\n"
  private let content = "Wikipedia \r\nin."

  @Test func `is the same whole, byte by byte and with what follows`() throws {
    let bytes = Array((head + body).utf8)
    for pieces in [[bytes], bytes.map { [$0] }, [bytes + Array("5\r\nmore".utf8)]] {
      let received = try Received(pieces)
      #expect(received.head?.status == 200)
      #expect(received.head?.fields.map(\.value) == ["b", "chunked"])
      #expect(received.text == content)
      #expect(received.isComplete)
    }
  }

  @Test func `is not at its end before its last chunk`() throws {
    let bytes = Array((head + body).utf8)
    for end in bytes.indices {
      let received = try Received([Array(bytes[..<end])])
      #expect((received.head != nil) == (end >= head.utf8.count))
      #expect(content.utf8.starts(with: received.content))
      #expect(!received.isComplete)
    }
  }

  @Test(arguments: ["x\r\n", "\r\n", "-1\r\n", "ffffffffffffffffff\r\n"])
  func `is refused where a size is none`(text: String) {
    #expect(throws: RequestError.self) { try Received([Array((head + text).utf8)]) }
  }

  @Test func `has the length that it names, and else ends with its connection`() throws {
    let whole = try Received([Array("HTTP/1.0 404 No\r\nContent-Length: 2\r\n\r\nabc".utf8)])
    #expect(whole.head?.status == 404)
    #expect(whole.text == "ab")
    #expect(whole.isComplete)
    let endless = try Received([Array("HTTP/1.1 200\r\nServer: a\r\n\r\nabc".utf8)])
    #expect(endless.head?.status == 200)
    #expect(endless.head?.framing == nil)
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n", "HTTP/1.1 OK\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1200 OK\r\n", "\r\n",
    "HTTP/2.0 200 OK\r\n", "HTTP/1.1 -20 OK\r\n", "HTTP/1.1 200 OK\nA: b\n\n",
    "HTTP/1.1 200 OK\r\nA b\r\n",
  ])
  func `is not what begins otherwise`(text: String) {
    #expect(throws: RequestError.self) { try Received([Array(text.utf8)]) }
  }
}
