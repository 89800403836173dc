import Callers
import OrderedResults
import QueryAnalysis

/// What a caller with certain claims may read of one query: what `didchange check --as` prints.
struct CallerReport {
  private let access: QueryAccess
  private let claims: Claims
  private let parameters: [QueryParameter]

  init(_ claims: Claims, _ access: QueryAccess, _ definition: QueryDefinition) {
    self.claims = claims
    self.access = access
    parameters = definition.parameters
  }

  /// `yes`, or the status of a refusal and its reason.
  var verdict: String {
    if access.rule.decision(for: claims) != .allowed { return "no: 403, `allow` does not fit" }
    do {
      for parameter in parameters { _ = try access.value(of: parameter, from: claims) }
      return "yes"
    } catch {
      return "no: 403, \(error)"
    }
  }

  var mayRead: Bool { verdict == "yes" }

  /// The values that the caller's claims are, by the names of parameters.
  var arguments: [String: Value] {
    var arguments: [String: Value] = [:]
    for parameter in parameters {
      arguments[parameter.name] = try? access.value(of: parameter, from: claims)
    }
    return arguments
  }

  /// `customer = 7`, as SQL writes it, for each of them.
  var argumentsInWords: String {
    let arguments = arguments
    return parameters.compactMap { parameter in
      arguments[parameter.name].map { "\(parameter.name) = \($0.literal)" }
    }.joined(separator: ", ")
  }
}

extension Value {
  /// https://www.sqlite.org/lang_expr.html#literal_values_constants_
  fileprivate var literal: String {
    switch self {
    case .null: return "NULL"
    case .integer(let integer): return String(integer)
    case .real(let real): return "\(real)"
    case .text(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      return "'"
        + text.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "''") + "'"
    case .blob(let bytes):
      let digits = bytes.map { byte in
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0\(text)" : text
      }
      return "x'\(digits.joined())'"
    }
  }
}
