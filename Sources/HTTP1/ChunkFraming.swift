/// Chunks as they are sent (RFC 9112 §7.1).
package enum ChunkFraming {
  /// The chunk that ends a body.
  package static let end: [UInt8] = Array("0\r\n\r\n".utf8)

  /// What follows the bytes of a chunk.
  package static let lineEnd: [UInt8] = [.carriageReturn, .lineFeed]

  /// The bytes of a chunk's frame around a number of bytes: its size, and two CRLF.
  package static func overhead(_ count: Int) -> Int { digits(count) + 4 }

  /// Appends one chunk.
  ///
  /// Nothing is not a chunk, because that would end the body.
  package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    guard !bytes.isEmpty else { return }
    appendSize(bytes.count, to: &output)
    output.append(contentsOf: bytes)
    output.append(contentsOf: lineEnd)
  }

  /// Appends the line before a chunk.
  package static func appendSize(_ count: Int, to output: inout [UInt8]) {
    for place in stride(from: digits(count) - 1, through: 0, by: -1) {
      let digit = UInt8(count >> (place * 4) & 15)
      output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
    output.append(.carriageReturn)
    output.append(.lineFeed)
  }

  private static func digits(_ count: Int) -> Int {
    max(1, (Int.bitWidth - count.leadingZeroBitCount + 3) / 4)
  }
}
