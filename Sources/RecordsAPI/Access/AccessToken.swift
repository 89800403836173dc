/// The secret that a URL may carry (RFC 6750 §2.3): whoever reads a log must not learn it.
enum AccessToken {
  /// The URL with `...` in place of every token.
  ///
  /// A name is recognized however it is escaped, and also within the value of another item, all of
  /// which then goes: `query=players%3Faccess_token%3D…`. Cost: O(n), n the bytes of the URL.
  static func hidden(in url: String) -> String {
    let bytes = Array(url.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var start = 0
    while true {
      let end = bytes[start...].firstIndex { $0 == mark || $0 == separator } ?? bytes.count
      result += hidden(bytes[start..<end])
      guard end < bytes.count else { return String(decoding: result, as: UTF8.self) }
      result.append(bytes[end])
      start = end + 1
    }
  }

  private static func hidden(_ item: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let end = item.firstIndex(of: equals) else { return item }
    var clear = item
    for _ in 0...depth {
      if clear.firstRange(of: name) != nil { return item[...end] + Array("...".utf8) }
      guard clear.contains(percent) else { break }
      clear = decoded(clear)
    }
    return item
  }

  /// With ASCII in clear, and whatever is malformed as it is: it was sent nevertheless.
  private static func decoded(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var result: ArraySlice<UInt8> = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let digits = bytes[index...].dropFirst().prefix(2)
      if bytes[index] == percent, digits.count == 2,
        let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), byte < 0x80
      {
        result.append(byte)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  private static let name = Array("access_token=".utf8)
  /// The name in the value of a value of an item is as deep as anybody here writes it.
  private static let depth = 3
  private static let mark = UInt8(ascii: "?")
  private static let separator = UInt8(ascii: "&")
  private static let equals = UInt8(ascii: "=")
  private static let percent = UInt8(ascii: "%")
}
