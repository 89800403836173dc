import Callers
import Testing

@Test func `a token that says nothing is known by its SHA-256`() {
  // FIPS 180-4, as in many test vectors.
  let digest = TokenDigest(of: "abc")
  #expect(digest.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  #expect(TokenDigest(of: "").hex.hasPrefix("e3b0c44298fc1c149afbf4c8996fb924"))
}

@Test func `the name in the access log is 12 digits that are not in the database`() {
  let identity = CallerIdentity.opaque(token: "abc")
  #expect(identity.claims?.value(at: "token") == .string(TokenDigest(of: "abc").hex))
  #expect(identity.name.utf8.count == 12)
  #expect(identity.name.allSatisfy { $0.isHexDigit && !$0.isUppercase })
  #expect(!TokenDigest(of: "abc").hex.contains(identity.name))
  #expect(
    identity.name
      == TokenDigest(of: "didchange caller:" + TokenDigest(of: "abc").hex).hex.prefix(12))
}

@Test func `identities are of one person by issuer and subject, else by all they say`() throws {
  func token(_ json: String) throws -> CallerIdentity {
    .token(claims: try Claims(json: json), expires: nil, key: "k", name: "?")
  }
  let others: [CallerIdentity] = [
    .anonymous, try token(#"{"sub":"ann","exp":7}"#), try token(#"{"sub":"bob","exp":7}"#),
    try token(#"{"sub":"ann","iss":"a"}"#), try token(#"{"sub":"ann","iss":"b"}"#),
    try token(#"{"sub":"7"}"#), try token(#"{"sub":7}"#), try token(#"{"exp":7}"#),
    try token(#"{"exp":8}"#), .opaque(token: "a"), .opaque(token: "b"),
  ]
  #expect(Set(others.map(\.key)).count == others.count)
  #expect(Set((others + others).map(\.key)).count == others.count)
  let renewed = try token(#"{"exp":8,"role":"guest","sub":"ann","iss":"a"}"#)
  #expect(renewed.key == others[3].key)
}

@Test func `who is anonymous has no claims and no name`() {
  #expect(CallerIdentity.anonymous.claims == nil)
  #expect(CallerIdentity.anonymous.expires == nil)
  #expect(CallerIdentity.anonymous.name == "-")
}

@Test func `a name is cut off, and a character of it is not`() {
  let claims = Claims([("sub", .string(String(repeating: "é", count: 1000)))])
  let name = CallerIdentity.headers(claims).name
  #expect(name.utf8.count == 126)
  #expect(name.hasSuffix("%A9"))
}
