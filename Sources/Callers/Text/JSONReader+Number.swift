extension JSONReader {
  /// Reads a number (RFC 8259 §6): an integer where it is written as one and fits 64 bits, a double
  /// otherwise.
  mutating func number() throws(JSONProblem) -> ClaimValue {
    let start = index
    _ = take("-")
    guard next.isDigit else { throw problem("a digit is missing") }
    if !take("0") { skipDigits() }
    if next.isDigit { throw problem("a number begins with 0") }
    var isInteger = true
    if take(".") {
      isInteger = false
      guard next.isDigit else { throw problem("a digit is missing") }
      skipDigits()
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("-") { _ = take("+") }
      guard next.isDigit else { throw problem("a digit is missing") }
      skipDigits()
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    guard let double = Double(text), double.isFinite else {
      throw JSONProblem(message: "a number is too large", offset: start)
    }
    return .double(double)
  }

  private mutating func skipDigits() {
    while next.isDigit { index += 1 }
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
