import JSON
import Testing

@Suite struct `A string in JSON` {
  /// Byte by byte, as RFC 8259 §7 has it.
  private func quoted(_ text: String) -> String {
    let short: [Unicode.Scalar: String] = [
      "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    ]
    let scalars = text.unicodeScalars.map { scalar in
      if let escape = short[scalar] { return escape }
      guard scalar.value < 0x20 else { return String(scalar) }
      let digits = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "\"" + scalars.joined() + "\""
  }

  private func written(_ text: String) -> String {
    var json = JSONWriter()
    json.string(text)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  @Test func `has each byte escaped that must be, wherever it stands`() {
    for byte in UInt8(0)...0x7F {
      for length in [1, 7, 8, 9, 16, 25] {
        for place in 0..<length {
          var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          bytes[place] = byte
          let text = String(decoding: bytes, as: UTF8.self)
          #expect(written(text) == quoted(text), "byte \(byte) at \(place) of \(length)")
        }
      }
    }
  }

  @Test func `has several bytes escaped, and what is beyond ASCII left as it is`() {
    for text in [
      "", "\"", "\\\"\\\"\\\"\\\"\\\"", "äöü\u{1F600}\"\u{7F}\u{0}ÿ", "a\nb\tc\r\u{1F}d  !",
    ] {
      for before in 0..<9 {
        let text = String(repeating: "x", count: before) + text + text
        #expect(written(text) == quoted(text))
      }
    }
  }
}
