import Algorithms
import OrderedResults

/// What values have in common that SQLite may take for equal, whatever affinity and collation apply.
///
/// Values that `=` takes for equal have equal keys; values with equal keys need not be equal. So
/// numbers and the texts of numbers are alike, and so are texts that differ in the case of ASCII
/// letters, in white space around them, or behind a NUL:
/// https://www.sqlite.org/datatype3.html#comparison_expressions
enum RoutingKey: Hashable {
  case null
  case number(Int64)
  case text([UInt8])
  case blob([UInt8])

  /// Fails for numbers that several texts stand for, such as 0.1, and for those that a real does
  /// not hold exactly: they may equal values with any key.
  init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .integer(let integer):
      guard Self.exact.contains(integer) else { return nil }
      self = .number(integer)
    case .real(let real):
      guard let integer = Int64(exactly: real), Self.exact.contains(integer) else { return nil }
      self = .number(integer)
    case .text(let bytes):
      let text = bytes.prefix { $0 != 0 }.trimming { $0 == 0x20 || (0x09...0x0D).contains($0) }
      if let integer = Self.integer(text) {
        self = .number(integer)
      } else {
        self = .text(text.map(\.foldedASCII))
      }
    case .blob(let bytes): self = .blob(bytes)
    }
  }

  /// Integers that stay what they are when they become reals, and texts, of which SQLite makes 15
  /// digits.
  private static let exact: ClosedRange<Int64> = -999_999_999_999_999...999_999_999_999_999

  /// The integer that a text such as `12`, `12.0` or `1.2e1` is taken for.
  private static func integer(_ text: ArraySlice<UInt8>) -> Int64? {
    let allowed = "0123456789+-.eE".utf8
    guard !text.isEmpty, text.allSatisfy(allowed.contains),
      let number = Double(String(decoding: text, as: UTF8.self)),
      let integer = Int64(exactly: number), exact.contains(integer)
    else { return nil }
    return integer
  }
}
