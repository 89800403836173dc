import Testing

/// JSON as it was written: numbers keep their digits, members their order.
enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([(name: String, value: JSONValue)])

  /// The member of that name; null where there is none.
  subscript(name: String) -> JSONValue { self.member(name) ?? .null }

  subscript(index: Int) -> JSONValue { elements[index] }

  func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var names: [String] {
    guard case .object(let members) = self else { return [] }
    return members.map(\.name)
  }

  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  var int: Int? {
    if case .number(let digits) = self { Int(digits) } else { nil }
  }
}

extension JSONValue: Equatable {
  /// Members are compared in their order; numbers by their digits, unless both have a fraction or
  /// an exponent.
  static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)):
      a == b || (isReal(a) && isReal(b) && Double(a) == Double(b))
    case (.string(let a), .string(let b)): a.unicodeScalars.elementsEqual(b.unicodeScalars)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    default: false
    }
  }

  private static func isReal(_ digits: String) -> Bool { digits.contains { ".eE".contains($0) } }
}

extension JSONValue: CustomStringConvertible, CustomTestStringConvertible {
  var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let digits): digits
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0.name)):\($0.value)" }.joined(separator: ",") + "}"
    }
  }

  var testDescription: String { description }

  private static func quoted(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case "\0"..<" ": "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
        default: String(scalar)
        }
      }.joined() + "\""
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByNilLiteral
{
  init(stringLiteral text: String) { self = .string(text) }
  init(integerLiteral value: Int) { self = .number(String(value)) }
  init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  init(nilLiteral: ()) { self = .null }
}
