// Bytes of text, looked at without making a String of them.

import Foundation

extension UnsafeRawBufferPointer {
  /// Whether the bytes are well-formed UTF-8; ASCII, the usual case, is found eight at a time.
  package var isValidUTF8: Bool {
    var index = 0
    while index + 8 <= count,
      loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    {
      index += 8
    }
    let rest = UnsafeRawBufferPointer(rebasing: self[index...])
    return rest.allSatisfy { $0 < 0x80 } || String(validating: rest, as: UTF8.self) != nil
  }
}

extension [UInt8] {
  /// Appends RFC 4648 §4 base64, padded.
  package mutating func appendBase64(of data: UnsafeRawBufferPointer) {
    reserveCapacity(count + (data.count + 2) / 3 * 4)
    let alphabet = base64Alphabet
    for start in stride(from: 0, to: data.count, by: 3) {
      let have = Swift.min(3, data.count - start)
      var group = UInt32(data[start]) << 16
      if have > 1 { group |= UInt32(data[start + 1]) << 8 }
      if have > 2 { group |= UInt32(data[start + 2]) }
      for digit in 0..<4 {
        let isPadding = digit > have
        append(
          isPadding ? UInt8(ascii: "=") : alphabet[Int(group >> (18 - 6 * UInt32(digit))) & 63])
      }
    }
  }
}

private let base64Alphabet = Array(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

extension [UInt8] {
  /// Reads base64 (RFC 4648 §4, or the URL-safe alphabet of §5), with or without padding.
  package init?(base64 text: String) {
    let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
    guard text.utf8.count - digits.count <= 2, !digits.contains(UInt8(ascii: "=")) else {
      return nil
    }
    let plain = String(decoding: digits, as: UTF8.self)
      .replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - digits.count % 4) % 4)
    guard let data = Data(base64Encoded: plain + padding) else { return nil }
    self = Array(data)
  }
}
