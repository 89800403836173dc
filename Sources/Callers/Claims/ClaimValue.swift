/// What one claim says: a value of JSON.
package enum ClaimValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// Also a number that JSON has as `7.0`.
  case double(Double)
  case string(String)
  case array([ClaimValue])
  case object(Claims)
}

extension ClaimValue: Equatable {
  /// Whether two values are the same: of one type, texts by their bytes, objects in any order.
  ///
  /// Rules compare with ``matches(_:)``, where 7 is 7.0.
  package static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }
}

extension ClaimValue {
  /// Whether there is U+0000 in a text of it, at any depth. O(n) in its size.
  var hasNull: Bool {
    switch self {
    case .string(let text): text.hasNull
    case .array(let elements): elements.contains { $0.hasNull }
    case .object(let claims): claims.members.contains { $0.name.hasNull || $0.value.hasNull }
    case .null, .boolean, .integer, .double: false
    }
  }
}
