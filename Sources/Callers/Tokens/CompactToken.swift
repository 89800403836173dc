/// The parts of a token in the compact serialization (RFC 7515 §3.1), none of them believed yet.
struct CompactToken {
  /// Bytes of a token; more is refused before anything is read.
  ///
  /// 8192, the most that a header line has behind most proxies.
  static let maximumSize = 8192

  /// What is signed: the first two parts as they came, with the dot (RFC 7515 §5.1).
  let signingInput: ArraySlice<UInt8>
  let header: [UInt8]
  private let encodedPayload: ArraySlice<UInt8>
  let signature: [UInt8]

  init(_ token: String) throws(TokenError) {
    try Self.checkSize(token)
    let bytes = Array(token.utf8)
    // One dot more than a token has is enough to know that it is none.
    let parts = bytes.split(
      separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw TokenError(.malformed, "the token does not have three parts")
    }
    guard let header = Base64URL.decode(parts[0]), let signature = Base64URL.decode(parts[2]) else {
      throw Self.badEncoding
    }
    self.header = header
    self.signature = signature
    encodedPayload = parts[1]
    signingInput = bytes[..<parts[1].endIndex]
  }

  static func checkSize(_ token: String) throws(TokenError) {
    guard token.utf8.count <= maximumSize else {
      throw TokenError(.malformed, "the token has more than \(maximumSize) bytes")
    }
  }

  /// The claims, to be read when the signature is known to be good. O(n).
  func payload() throws(TokenError) -> Claims {
    guard let payload = Base64URL.decode(encodedPayload) else { throw Self.badEncoding }
    do throws(JSONProblem) {
      return try JSONReader.object(payload)
    } catch {
      throw TokenError(.claims, "the token's claims cannot be read: \(error.message)")
    }
  }

  private static var badEncoding: TokenError {
    TokenError(.malformed, "a part of the token is not base64url without padding")
  }
}
