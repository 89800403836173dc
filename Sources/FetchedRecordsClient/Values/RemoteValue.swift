public import Foundation

/// A value as a server sends it: of a column, a key, the name of a section, or read alongside.
///
/// It is `Decodable`, so that `[String: RemoteValue]` are records of any query.
public enum RemoteValue: Sendable, Hashable {
  case null
  /// Of a column with the type `boolean`.
  case boolean(Bool)
  /// A number without a fraction, however it is written (JSON has one kind of numbers): 2 of a REAL
  /// column, which is sent as `2.0`, too.
  case integer(Int64)
  /// A number with a fraction, or one beyond 64 bits.
  case real(Double)
  /// Text; of columns with the type `date` or `datetime` in ISO 8601.
  case text(String)
  case blob(Data)
  /// Of a column with the type `json`.
  case array([RemoteValue])
  /// Of a column with the type `json`.
  case object([String: RemoteValue])

  /// The text, or nil for any other value.
  public var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The integer, or nil for any other value.
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}

extension RemoteValue: CustomStringConvertible {
  /// Text as it is, a BLOB in base64, and anything else as in JSON, members in the order of their names.
  public var description: String {
    switch self {
    case .text(let text): text
    case .blob(let bytes): bytes.base64EncodedString()
    default: json
    }
  }

  private var json: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): Self.quoted(text)
    case .blob(let bytes): #"{"base64":"\#(bytes.base64EncodedString())"}"#
    case .array(let values): "[\(values.map(\.json).joined(separator: ","))]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\($0.value.json)" }
        .joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

extension RemoteValue {
  /// Null where it is no JSON.
  init(_ json: RawJSON) {
    switch json.bytes.first {
    case UInt8(ascii: "\""): self = .text(json.plain)
    case UInt8(ascii: "["): self = .array(json.elements().map(RemoteValue.init))
    case UInt8(ascii: "{"): self = Self(members: json.object.mapValues(RemoteValue.init))
    case UInt8(ascii: "t"): self = .boolean(true)
    case UInt8(ascii: "f"): self = .boolean(false)
    default:
      let text = json.text
      self = Int64(text).map(Self.integer) ?? Double(text).map { Self($0, json) } ?? .null
    }
  }

  /// `JSONDecoder` goes by the digits, and so finds an integer where `Double` has none left.
  private init(_ number: Double, _ json: RawJSON) {
    let integer =
      number == number.rounded() ? try? JSONDecoder().decode(Int64.self, from: json.data) : nil
    self = integer.map(Self.integer) ?? .real(number)
  }

  /// `{"base64": "…"}` is a BLOB (`protocol.md` §2).
  private init(members: [String: RemoteValue]) {
    if members.count == 1, let bytes = members["base64"]?.text.flatMap({ Data(base64Encoded: $0) })
    {
      self = .blob(bytes)
    } else {
      self = .object(members)
    }
  }
}

extension RemoteValue: Decodable {
  /// Takes any JSON.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else if let flag = try? container.decode(Bool.self) {
      self = .boolean(flag)
    } else if let values = try? container.decode([RemoteValue].self) {
      self = .array(values)
    } else {
      self.init(members: try container.decode([String: RemoteValue].self))
    }
  }
}
