import HTTP1
import JSON
import OrderedResults

// A key as it is written into a URL.
extension KeyText {
  /// The path segment by which a record with this key is found.
  static func encoded(_ key: [Value]) -> String {
    let text = key.map { encoded($0) }.joined(separator: ",")
    // What would be a step of the path is none with the comma behind it.
    return text == "." || text == ".." ? text + "," : text
  }

  /// One value, percent-encoded, which parameters of its type read too; NULL as a key has it.
  static func encoded(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): String(integer)
    case .real(let real): PercentEncoding.encoded(real.description)
    case .text(let bytes): PercentEncoding.encoded(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes):
      PercentEncoding.encoded(
        String(decoding: bytes.withUnsafeBytes { [UInt8](base64Of: $0) }, as: UTF8.self))
    }
  }
}

extension [UInt8] {
  fileprivate init(base64Of data: UnsafeRawBufferPointer) {
    self = []
    appendBase64(of: data)
  }
}
