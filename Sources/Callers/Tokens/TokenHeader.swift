/// What counts of a token's header (RFC 7515 §4.1).
///
/// `jwk`, `jku`, `x5c` and `x5u` say by which key to verify, and whoever forges a token can write them:
/// they are not read.
struct TokenHeader {
  let algorithm: SigningAlgorithm
  let keyIdentifier: String?

  init(_ bytes: [UInt8], allowed: [SigningAlgorithm]) throws(TokenError) {
    let members: Claims
    do throws(JSONProblem) {
      members = try JSONReader.object(bytes)
    } catch {
      throw TokenError(.malformed, "the token's header cannot be read: \(error.message)")
    }
    // RFC 7515 §4.1.11: who does not understand an extension must refuse; none is understood here.
    guard members.value(named: "crit") == nil else {
      throw TokenError(.malformed, "the token's header has crit, and no extension is understood")
    }
    algorithm = try Self.algorithm(members, allowed: allowed)
    switch members.value(named: "kid") {
    case nil: keyIdentifier = nil
    case .string(let text): keyIdentifier = text
    default: throw TokenError(.malformed, "the token's kid is not a text")
    }
  }

  private static func algorithm(
    _ members: Claims, allowed: [SigningAlgorithm]
  ) throws(TokenError) -> SigningAlgorithm {
    guard case .string(let name) = members.value(named: "alg") else {
      throw TokenError(.malformed, "the token's header has no alg")
    }
    // RFC 7515 §4.1.1: case counts, so nOnE is as unknown as none.
    guard let algorithm = allowed.first(where: { $0.rawValue.hasSameBytes(as: name) }) else {
      let names = allowed.map(\.rawValue).joined(separator: ", ")
      throw TokenError(.algorithm, "the token's alg is \(name.quoted), and allowed is \(names)")
    }
    return algorithm
  }
}
