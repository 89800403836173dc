extension Collation {
  /// One value for all that are equal to a value: 1 for 1.0, too.
  ///
  /// O(b), b bytes of text.
  package func representative(of value: Value) -> Value {
    switch value {
    case .real(let real): Int64(exactly: real).map(Value.integer) ?? value
    case .text(let bytes): representative(ofText: bytes)
    case .null, .integer, .blob: value
    }
  }

  private func representative(ofText bytes: [UInt8]) -> Value {
    switch self {
    case .binary: return .text(bytes)
    case .noCase:
      // SQLite looks at nothing but the length from a NUL on.
      let end = bytes.firstIndex(of: 0) ?? bytes.count
      let folded = bytes[..<end].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return .text(folded + repeatElement(0, count: bytes.count - end))
    case .rtrim: return .text(Array(bytes[..<(bytes.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0)]))
    }
  }
}
