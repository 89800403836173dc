/// Takes the chunked coding off a body, as RFC 9112 §7.1 has it; bytes in, bytes out, no I/O.
struct ChunkedDecoder {
  private enum State: Equatable {
    case size, data(remaining: Int), dataEnd, trailer, end
  }

  private var state = State.size
  private var line: [UInt8] = []

  var isAtEnd: Bool { state == .end }

  /// The content in the next bytes of the body.
  mutating func decode(_ bytes: [UInt8]) throws(ClientError) -> [UInt8] {
    var content: [UInt8] = []
    var rest = bytes[...]
    while let first = rest.first, state != .end {
      if case .data(let remaining) = state {
        let taken = rest.prefix(remaining)
        content += taken
        rest = rest.dropFirst(taken.count)
        state = remaining == taken.count ? .dataEnd : .data(remaining: remaining - taken.count)
      } else {
        rest = rest.dropFirst()
        if first == UInt8(ascii: "\n") {
          try endLine()
        } else if line.count < 4096 {
          line.append(first)
        } else {
          throw ClientError("the server sent a chunk without end")
        }
      }
    }
    return content
  }

  private mutating func endLine() throws(ClientError) {
    let text = String(decoding: line, as: UTF8.self)
    line = []
    switch state {
    case .size:
      let digits = text.prefix(while: \.isHexDigit)
      guard let size = Int(digits, radix: 16) else {
        throw ClientError("the server sent a chunk without a size")
      }
      state = size == 0 ? .trailer : .data(remaining: size)
    case .dataEnd: state = .size
    case .trailer where text.isEmpty || text == "\r": state = .end
    case .trailer, .data, .end: break
    }
  }
}
