import Callers
import FetchedRecords
import Foundation
import HTTPServer
import HTTPTypes
import JSON
import OrderedResults
import QueryAnalysis

/// Who makes a request, as far as the server knows at that moment.
struct Caller: Sendable {
  /// What the `claims` statement gave, and where it will say otherwise.
  struct Row: Sendable {
    let feed: Feed
    let version: ResultsVersion
    /// The commit that it is of.
    let commit: Int
  }

  let gate: Gatekeeper
  let identity: CallerIdentity
  /// nil: nobody has signed in.
  let claims: Claims?
  /// nil: no statement was asked.
  let row: Row?
  /// From when on the caller is nobody any more.
  let expires: UnixSeconds?

  /// - Throws: 401 where the caller is nobody any more, though the request was let in.
  func checkIsKnown() throws(Problem) {
    if let problem = gate.expiry(of: expires) { throw problem }
  }

  /// - Throws: 401 or 403 where the query is not for this caller.
  func check(mayRead query: String) throws(Problem) {
    try gate.check(gate.access(of: query).rule, claims, "this query")
  }

  func mayRead(_ query: String) -> Bool {
    gate.access(of: query).rule.decision(for: claims) == .allowed
  }

  /// Whether this caller sees how the server does its work.
  var isOperator: Bool { gate.settings.operators?.decision(for: claims) == .allowed }

  /// - Throws: 401 or 403 where it does not.
  func checkIsOperator() throws(Problem) {
    try gate.check(gate.settings.operators ?? .claims([:]), claims, "this resource")
    if !isOperator {
      throw gate.refuse(.forbidden, "notAllowed", "This resource is for operators.")
    }
  }

  /// The value that a parameter takes from the claims.
  ///
  /// - Returns: nil where it takes none from there.
  /// - Throws: 401 or 403 where there is no such claim, or one that the parameter cannot take.
  func value(of parameter: QueryParameter, in query: String) throws(Problem) -> Value? {
    let access = gate.access(of: query)
    guard access.claims[parameter.name] != nil else { return nil }
    guard let claims else { throw gate.unauthorized("missing", "This query needs a token.") }
    do {
      return try access.value(of: parameter, from: claims)
    } catch {
      gate.note("\(error), for \(query)")
      throw gate.refuse(.forbidden, "noClaim", error.detail)
    }
  }
}

extension Value {
  /// A claim as a parameter's value: an array or an object as its JSON text.
  init?(_ claim: ClaimValue, as type: QueryParameter.ValueType) {
    switch (type, claim) {
    case (.text, .string(let text)): self = .text(text)
    case (.text, .integer(let integer)): self = .text(String(integer))
    case (.text, .array), (.text, .object): self = .text(claim.jsonText)
    case (.integer, .integer(let integer)): self = .integer(integer)
    case (.integer, .double(let double)):
      guard let integer = Int64(exactly: double) else { return nil }
      self = .integer(integer)
    case (.integer, .string(let text)):
      guard let integer = Int64(text), String(integer) == text else { return nil }
      self = .integer(integer)
    case (.real, .double(let double)): self = .real(double)
    case (.real, .integer(let integer)): self = .real(Double(integer))
    case (.blob, .string(let text)):
      guard let bytes = [UInt8](base64: text) else { return nil }
      self = .blob(bytes)
    default: return nil
    }
  }
}

extension ClaimValue {
  /// A value of a column.
  init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .real(let real): self = .double(real)
    case .text(let bytes): self = .string(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): self = .string(Data(bytes).base64EncodedString())
    }
  }

  /// As a value of a parameter of the `claims` statement.
  var bound: Value {
    switch self {
    case .null: .null
    case .boolean(let boolean): .integer(boolean ? 1 : 0)
    case .integer(let integer): .integer(integer)
    case .double(let double): .real(double)
    case .string(let text): .text(text)
    case .array, .object: .text(jsonText)
    }
  }
}
