package import Callers
import OrderedResults
import QueryAnalysis

/// Who may read a query, and which of its parameters are theirs.
package struct QueryAccess: Sendable {
  package var rule = AccessRule.signedIn
  /// By the name of a parameter, the claim that is its value.
  package var claims: [String: String] = [:]
}

extension QueryAccess {
  /// Whether everybody reads the query, and the same of it.
  var isForAnybody: Bool { rule == .anyone && claims.isEmpty }

  /// The value that a parameter takes from a caller's claims.
  ///
  /// - Returns: nil where it takes none from there.
  /// - Throws: where there is no such claim, or one that the parameter cannot take.
  func value(of parameter: QueryParameter, from caller: Claims) throws(ClaimFault) -> Value? {
    guard let path = claims[parameter.name] else { return nil }
    guard let claim = caller.value(at: path) else { throw .missing(path) }
    guard let value = Value(claim, as: parameter.type) else { throw .unfit(path, parameter) }
    return value
  }
}

/// Why a parameter has no value for a caller; its description is for the operator.
enum ClaimFault: Error, CustomStringConvertible {
  case missing(String)
  case unfit(String, QueryParameter)

  /// For the caller.
  var detail: String {
    switch self {
    case .missing(let path): "You have no \(path), which this query is about."
    case .unfit(let path, _): "Your \(path) is not what this query is about."
    }
  }

  var description: String {
    switch self {
    case .missing(let path): "there is no \(path)"
    case .unfit(let path, let parameter):
      "\(path) cannot be the \(parameter.type.rawValue) \(parameter.name)"
    }
  }
}
