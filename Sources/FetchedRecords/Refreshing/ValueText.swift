package import OrderedResults

extension Value {
  /// The value in a message or a URL: text as it is, numbers in digits, blobs as hexadecimal.
  package var text: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): String(integer)
    case .real(let real): real.description
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    case .blob(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}
