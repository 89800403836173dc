import FetchedRecords
import Foundation
import OrderedResults
import QueryAnalysis
import Yams

extension ConfigurationReader {
  mutating func parameters(_ node: Node, of query: String) -> [QueryParameter] {
    let entries = entries(node, "`parameters`", example: "NAME: {type: text}") ?? []
    return entries.compactMap { name, key, value in
      configuration.positions[.query(query, .entry(.parameters, name))] = key.position
      if let flaw = ParameterName.flaw(name) { note(key.position, flaw) }
      return parameter(name, at: key.position, value, of: query)
    }
  }

  private mutating func parameter(
    _ name: String, at position: TextPosition, _ node: Node, of query: String
  ) -> QueryParameter? {
    guard let entries = read(node, as: ParameterWord.self, what: "the parameter \"\(name)\"") else {
      return nil
    }
    guard let typeNode = entries.first(where: { $0.word == .type })?.value else {
      note(
        position, "the parameter \"\(name)\" has no `type`",
        mend: "add type: \(Self.types(separator: ", or type: "))")
      return nil
    }
    guard let type = type(typeNode) else { return nil }
    var parameter = QueryParameter(name: name, type: type)
    if let node = entries.first(where: { $0.word == .default })?.value {
      configuration.positions[.query(query, .parameterDefault(name))] = node.position
      parameter.defaultValue = defaultValue(node, type)
    }
    if let node = entries.first(where: { $0.word == .claim })?.value,
      let claim = text(node, "`claim`")
    {
      configuration.access[query, default: QueryAccess()].claims[name] = claim
      parameter.isClaimed = true
      if parameter.defaultValue != nil {
        note(
          node.position, "the parameter \"\(name)\" has a `claim` and a `default`",
          mend: "leave the default out: who has no such claim may not read the query")
      }
    }
    return parameter
  }

  private mutating func type(_ node: Node) -> QueryParameter.ValueType? {
    guard let text = text(node, "`type`") else { return nil }
    if let type = QueryParameter.ValueType(rawValue: text) { return type }
    let names = QueryParameter.ValueType.allCases.map(\.rawValue)
    let nearest = Self.typeSynonyms[text.lowercased()] ?? NearestWord.find(text, among: names)
    note(
      node.position, "\"\(text)\" is not a type",
      mend: nearest.map { "did you mean \"\($0)\"?" }
        ?? "the types are \(Self.types(separator: ", "))")
    return nil
  }

  private static func types(separator: String) -> String {
    QueryParameter.ValueType.allCases.map(\.rawValue).joined(separator: separator)
  }

  /// The names of other databases and languages; SQLite's own are the four storage classes.
  private static let typeSynonyms = [
    "string": "text", "str": "text", "varchar": "text", "char": "text", "date": "text",
    "int": "integer", "int64": "integer", "bigint": "integer", "bool": "integer",
    "boolean": "integer", "number": "real", "float": "real", "double": "real", "decimal": "real",
    "numeric": "real", "bytes": "blob", "data": "blob", "binary": "blob",
  ]

  private mutating func defaultValue(
    _ node: Node, _ type: QueryParameter.ValueType
  ) -> Value? {
    guard case .scalar(let scalar) = node else {
      note(node.position, "`default` is \(node.kind), not \(type.description)")
      return nil
    }
    switch (type, YAMLScalar(scalar)) {
    case (_, .null) where !scalar.string.isEmpty: return .null
    case (.text, .text(let text)): return .text(text)
    case (.integer, .integer(let integer)): return .integer(integer)
    case (.real, .integer(let integer)): return .real(Double(integer))
    case (.real, .real(let real)) where real.isFinite: return .real(real)
    case (.blob, .text(let text)):
      if let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) {
        return .blob(Array(bytes))
      }
      note(node.position, "`default` is not base64", mend: "a blob is written as base64")
    case (_, let scalar): noteDefault(node, type, scalar)
    }
    return nil
  }

  private mutating func noteDefault(
    _ node: Node, _ type: QueryParameter.ValueType, _ scalar: YAMLScalar
  ) {
    let text = node.scalar?.string ?? ""
    let mend: String? =
      switch (type, scalar) {
      case (_, .null): "write null for NULL, or leave the word out"
      case (.text, _): "put it in quotes: \"\(text)\""
      case (.integer, .text) where Int64(text) != nil: "write it without quotes: \(text)"
      case (.real, .text) where Double(text) != nil: "write it without quotes: \(text)"
      case (.integer, .boolean(let value)): "write \(value ? 1 : 0)"
      case (.integer, .hugeInteger): "an integer has at most 64 bits"
      case (.integer, .real): "write a whole number, or say type: real"
      default: nil
      }
    note(node.position, "`default` is \(node.kind), not \(type.description)", mend: mend)
  }
}

extension QueryParameter.ValueType {
  fileprivate var description: String {
    switch self {
    case .text: "text"
    case .integer: "an integer"
    case .real: "a finite number"
    case .blob: "a blob in base64"
    }
  }
}
