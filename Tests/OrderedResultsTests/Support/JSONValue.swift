import Foundation

@testable import OrderedResults

/// Any JSON, integers kept apart from other numbers.
enum JSONValue: Equatable, Decodable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let real = try? container.decode(Double.self) {
      self = .real(real)
    } else if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let array = try? container.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  subscript(name: String) -> JSONValue {
    guard case .object(let members) = self else { return .null }
    return members[name] ?? .null
  }

  var array: [JSONValue] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  var integer: Int? {
    guard case .integer(let integer) = self else { return nil }
    return Int(integer)
  }
}

// Values as `protocol.md` §2 writes them.

extension JSONValue {
  init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .real(let real): self = .real(real)
    case .text(let bytes): self = .string(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): self = .object(["base64": .string(Data(bytes).base64EncodedString())])
    }
  }

  var value: Value? {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .string(let string): .text(string)
    case .object(let members):
      members["base64"]?.string.flatMap { Data(base64Encoded: $0) }.map { .blob(Array($0)) }
    case .bool, .array: nil
    }
  }
}
