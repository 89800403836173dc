import Foundation
import Yams

/// What a scalar of a YAML file says, by the core schema of YAML 1.2 (§10.3.2).
///
/// Not by YAML 1.1, as which Yams reads it when asked: there `NO`, a country, is false, and `12:30`
/// is the number 750. In 1.2, as in JSON, they are text.
enum YAMLScalar: Equatable {
  case null, boolean(Bool), integer(Int64), real(Double), text(String)
  /// A whole number that no SQLite INTEGER can hold.
  case hugeInteger

  init(_ scalar: Node.Scalar) {
    let isPlain = scalar.style == .plain || scalar.style == .any
    let isText = scalar.tag.description == "tag:yaml.org,2002:str"
    self = isPlain && !isText ? Self.resolve(scalar.string) : .text(scalar.string)
  }

  private static func resolve(_ text: String) -> YAMLScalar {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .boolean(true)
    case "false", "False", "FALSE": return .boolean(false)
    case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .real(.infinity)
    case "-.inf", "-.Inf", "-.INF": return .real(-.infinity)
    case ".nan", ".NaN", ".NAN": return .real(.nan)
    default: return number(text) ?? .text(text)
    }
  }

  private static func number(_ text: String) -> YAMLScalar? {
    if text.wholeMatch(of: /[-+]?[0-9]+/) != nil {
      return Int64(text).map { .integer($0) } ?? .hugeInteger
    }
    if let match = text.wholeMatch(of: /0o([0-7]+)/) {
      return Int64(match.1, radix: 8).map { .integer($0) } ?? .hugeInteger
    }
    if let match = text.wholeMatch(of: /0x([0-9a-fA-F]+)/) {
      return Int64(match.1, radix: 16).map { .integer($0) } ?? .hugeInteger
    }
    guard text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil else {
      return nil
    }
    return Double(text.hasSuffix(".") ? text + "0" : text).map { .real($0) }
  }
}

extension Node {
  /// What the node is, in a few words for a message: "the number 12", "a list".
  var kind: String {
    switch self {
    case .scalar(let scalar):
      switch YAMLScalar(scalar) {
      case .null: "nothing"
      case .boolean: "the truth value \(scalar.string)"
      case .integer, .hugeInteger, .real: "the number \(scalar.string)"
      case .text: "text"
      }
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }

  var position: TextPosition {
    mark.map { TextPosition(line: $0.line, column: $0.column) } ?? .start
  }
}
