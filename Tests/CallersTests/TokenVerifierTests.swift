import Callers
import Crypto
import Testing

private let publicSigners: [Signer] =
  [TestKeys.es256(), TestKeys.es384, TestKeys.es512, TestKeys.edDSA]
  + ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map { TestKeys.rsa($0) }

@Test(arguments: publicSigners.indices)
func `a token that is signed by a key of the set is good`(index: Int) throws {
  let token = try publicSigners[index].token(#"{"sub":"ann","n":7.0}"#)
  let verified = try TokenVerifier.forPublicKeys().verify(token, now: now)
  #expect(verified.claims.jsonText == #"{"sub":"ann","n":7.0}"#)
  #expect(verified.identity.name == "ann")
  #expect(verified.expires == nil)
  #expect(
    verified.identity
      == .token(
        claims: verified.claims, expires: nil, key: try #require(verified.identity.signingKey),
        name: "ann"))
}

@Test(arguments: ["HS256", "HS384", "HS512"])
func `a token that is signed with the secret is good`(name: String) throws {
  let verifier = try TokenVerifier.forSecret([.hs256, .hs384, .hs512])
  #expect(verifier.refusal(of: try TestKeys.hmac(name).token()) == nil)
  // A secret has no name, so it does not matter which one a token has for it.
  #expect(verifier.refusal(of: try TestKeys.hmac(name).token(kid: "any")) == nil)
}

@Test func `every signature has one algorithm and one key that it is good for`() throws {
  let verifier = try TokenVerifier.forPublicKeys()
  for signer in publicSigners {
    for other in publicSigners where other.algorithm != signer.algorithm {
      let token = try signer.called(other.algorithm).token()
      #expect(
        verifier.refusal(of: token) == .signature, "\(signer.algorithm) as \(other.algorithm)")
    }
  }
}

@Test func `an algorithm that is not listed is refused, though there is a key`() throws {
  let verifier = try TokenVerifier(jwks: try TestKeys.all(), [.es256, .rs256])
  #expect(verifier.refusal(of: try TestKeys.es256().token()) == nil)
  #expect(verifier.refusal(of: try TestKeys.es384.token()) == .algorithm)
  #expect(verifier.refusal(of: try TestKeys.rsa("RS512").token()) == .algorithm)
  #expect(verifier.refusal(of: try TestKeys.rsa("PS256").token()) == .algorithm)
}

@Test func `a kid must be one of the set, and its key of the algorithm's type`() throws {
  let verifier = try TokenVerifier.forPublicKeys()
  #expect(verifier.refusal(of: try TestKeys.es256().token(kid: "p256")) == nil)
  for kid in ["ed", "rsa", "P256", "p256 ", "", "../p256"] {
    #expect(verifier.refusal(of: try TestKeys.es256().token(kid: kid)) == .key, "\(kid)")
  }
  let token = try TestKeys.es256().token(header: #"{"alg":"ES256","kid":7}"#, payload: "{}")
  #expect(verifier.refusal(of: token) == .malformed)
}

@Test func `a token without kid is tried with each key that fits`() throws {
  let other = TestKeys.es256(.init())
  let verifier = try TokenVerifier(
    jwks: TestKeys.set([
      TestKeys.es256JWK(.init(), more: #","kid":"a""#), TestKeys.es256JWK(more: #","kid":"b""#),
    ]), [.es256])
  #expect(verifier.refusal(of: try TestKeys.es256().token()) == nil)
  #expect(verifier.refusal(of: try TestKeys.es256().token(kid: "a")) == .signature)
  #expect(verifier.refusal(of: try other.token()) == .signature)
}

@Test(
  arguments: [
    (#"{"exp":1000}"#, 1029.9, nil), (#"{"exp":1000}"#, 1030, .expired),
    (#"{"exp":1000.5}"#, 1030.4, nil), (#"{"exp":1000.5}"#, 1030.5, .expired),
    (#"{"nbf":1000}"#, 970, nil), (#"{"nbf":1000}"#, 969.9, .notYetValid),
    (#"{"iat":5000}"#, 1000, nil), (#"{"exp":0}"#, 1000, .expired), (#"{"exp":-1}"#, 0, nil),
    (#"{"exp":1e300}"#, 1000, nil), (#"{"exp":9223372036854775807}"#, 1000, nil),
    (#"{"exp":"5000"}"#, 1000, .claims), (#"{"exp":null}"#, 1000, .claims),
    (#"{"exp":[5000]}"#, 1000, .claims), (#"{"exp":true}"#, 1000, .claims),
    (#"{"exp":1e400}"#, 1000, .claims), (#"{"exp":-1e400}"#, 1000, .claims),
    (#"{"nbf":"0"}"#, 1000, .claims), (#"{"nbf":1e400}"#, 1000, .claims),
    (#"{"iat":"0"}"#, 1000, .claims), (#"{"iat":null}"#, 1000, .claims),
    (#"{"exp":1,"exp":5000}"#, 1000, .claims), (#"{"exp":1,"\u0065xp":5000}"#, 1000, .claims),
  ] as [(String, UnixSeconds, TokenError.Reason?)])
func `times are numbers, and count with 30 seconds of leeway`(
  payload: String, time: UnixSeconds, reason: TokenError.Reason?
) throws {
  let token = try TestKeys.hmac().token(payload)
  #expect(try TokenVerifier.forSecret().refusal(of: token, at: time) == reason)
}

@Test(
  arguments: [
    (#"{"iss":"https://id","aud":"didchange"}"#, nil),
    (#"{"iss":"https://id","aud":["a","didchange"]}"#, nil),
    (#"{"aud":"didchange"}"#, .issuer), (#"{"iss":"https://id/","aud":"didchange"}"#, .issuer),
    (#"{"iss":["https://id"],"aud":"didchange"}"#, .issuer),
    (#"{"iss":null,"aud":"didchange"}"#, .issuer), (#"{"iss":"https://id"}"#, .audience),
    (#"{"iss":"https://id","aud":"Didchange"}"#, .audience),
    (#"{"iss":"https://id","aud":[]}"#, .audience),
    (#"{"iss":"https://id","aud":["didchange",7]}"#, .claims),
    (#"{"iss":"https://id","aud":[["didchange"]]}"#, .claims),
    (#"{"iss":"https://id","aud":{"didchange":1}}"#, .claims),
    (#"{"iss":"https://id","aud":7}"#, .claims), (#"{"iss":"https://id","aud":null}"#, .claims),
  ] as [(String, TokenError.Reason?)]) func `issuer and audience are as configured`(
    payload: String, reason: TokenError.Reason?
  ) throws
{
  let settings = TokenSettings(
    algorithms: [.hs256], issuer: "https://id", audience: "didchange")
  let verifier = TokenVerifier(
    settings: settings, keys: try KeySet(secret: TestKeys.secret, algorithms: [.hs256]))
  #expect(verifier.refusal(of: try TestKeys.hmac().token(payload)) == reason)
}

@Test func `without an audience configured any will do, if it is one`() throws {
  let verifier = try TokenVerifier.forSecret()
  #expect(verifier.refusal(of: try TestKeys.hmac().token(#"{"aud":"others"}"#)) == nil)
  #expect(verifier.refusal(of: try TestKeys.hmac().token(#"{"aud":7}"#)) == .claims)
}

@Test(arguments: [
  (#"{"sub":"ann"}"#, "ann"), (#"{"sub":17}"#, "17"), ("{}", "?"), (#"{"sub":null}"#, "?"),
  (#"{"sub":["a"]}"#, "?"), (#"{"sub":"-"}"#, "%2D"),
  (#"{"sub":"a b\n\"é%"}"#, "a%20b%0A%22%C3%A9%25"),
]) func `a caller is called by the subject, without what could break a log`(
  payload: String, name: String
) throws {
  let token = try TestKeys.hmac().token(payload)
  let verified = try TokenVerifier.forSecret().verify(token, now: now)
  #expect(verified.identity.name == name)
}

@Test func `errors tell the client little, and the operator why`() throws {
  let verifier = try TokenVerifier.forSecret()
  let token = try TestKeys.hmac().called("HS512").token()
  let error = #expect(throws: TokenError.self) { try verifier.verify(token, now: now) }
  #expect(error?.detail == "The token is not good.")
  #expect(error?.explanation == #"the token's alg is "HS512", and allowed is HS256"#)
  let expired = try TestKeys.hmac().token(#"{"exp":1}"#)
  let second = #expect(throws: TokenError.self) { try verifier.verify(expired, now: now) }
  #expect(second?.detail == "The token has expired.")
}

@Test func `what a log message quotes of a header is short and in one line`() throws {
  let name = String(repeating: "x\\n\\u001b", count: 100)
  let token = try TestKeys.hmac().token(header: #"{"alg":"\#(name)"}"#, payload: "{}")
  let error = #expect(throws: TokenError.self) {
    try TokenVerifier.forSecret().verify(token, now: now)
  }
  let explanation = try #require(error?.explanation)
  #expect(explanation.utf8.count < 400)
  #expect(explanation.utf8.allSatisfy { $0 >= 0x20 })
}
