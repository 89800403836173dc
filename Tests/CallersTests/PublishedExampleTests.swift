import Callers
import Foundation
import Testing

// The examples of the standards, with the keys that are printed there.

/// The claims of RFC 7515 appendix A, and of RFC 7519 §3.1; they expire in March 2011.
private let payload =
  "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

private func check(_ verifier: TokenVerifier, _ token: String) throws {
  let verified = try verifier.verify(token, now: 1_300_819_379)
  #expect(
    verified.claims.jsonText
      == #"{"iss":"joe","exp":1300819380,"http://example.com/is_root":true}"#)
  #expect(verified.claims.value(at: "http://example.com/is_root") == .boolean(true))
  #expect(verified.expires == 1_300_819_410)
  #expect(verifier.refusal(of: token, at: 1_300_819_410) == .expired)
}

@Test func `RFC 7515 A_1 and RFC 7519 3_1, HS256`() throws {
  let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
  let base64 = key.replacing("-", with: "+").replacing("_", with: "/") + "=="
  let secret = try #require(Data(base64Encoded: base64))
  let keys = try KeySet(secret: Array(secret), algorithms: [.hs256])
  let verifier = TokenVerifier(settings: TokenSettings(algorithms: [.hs256]), keys: keys)
  try check(
    verifier,
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + payload
      + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
}

@Test func `RFC 7515 A_2, RS256`() throws {
  let modulus = """
    ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Q\
    lL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBY\
    UsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNm\
    oudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
    """
  let verifier = try TokenVerifier(
    jwks: TestKeys.set([#"{"kty":"RSA","n":"\#(modulus)","e":"AQAB"}"#]), [.rs256])
  let signature = """
    cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5juj\
    Gbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe\
    7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8\
    np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
    """
  try check(verifier, "eyJhbGciOiJSUzI1NiJ9." + payload + "." + signature)
}

@Test func `RFC 7515 A_3, ES256`() throws {
  let key = #"""
    {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    "d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}
    """#
  try check(
    try TokenVerifier(jwks: TestKeys.set([key]), [.es256]),
    "eyJhbGciOiJFUzI1NiJ9." + payload
      + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
}

@Test func `RFC 8037 A_4, EdDSA: the signature is good, and what it signs are no claims`() throws {
  let key = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
  let verifier = try TokenVerifier(jwks: TestKeys.set([key]), [.edDSA])
  let input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
  let signature =
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
  #expect(verifier.refusal(of: input + "." + signature) == .claims)
  #expect(verifier.refusal(of: input + ".i" + signature.dropFirst()) == .signature)
}

@Test func `RFC 7519 6_1, an unsecured token is refused`() throws {
  let token = "eyJhbGciOiJub25lIn0." + payload + "."
  #expect(try TokenVerifier.forPublicKeys().refusal(of: token) == .algorithm)
  #expect(try TokenVerifier.forSecret().refusal(of: token) == .algorithm)
}

@Test func `RFC 7517 A_1, a key for encryption is not used`() throws {
  let modulus = """
    0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebW\
    KRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQM\
    icAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcR\
    wr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw
    """
  let set = TestKeys.set([
    #"""
    {"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"enc","kid":"1"}
    """#,
    #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#,
  ])
  let keys = try KeySet(jwks: set, algorithms: [.es256, .rs256, .ps256])
  #expect(keys.count == 1)
  #expect(keys.unused == [#"key 1 (kid "1") is not used: its use is not sig"#])
}
