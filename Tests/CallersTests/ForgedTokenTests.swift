import Callers
import Crypto
import CryptoExtras
import Foundation
import Testing

// Forgeries that verifiers have fallen for: RFC 8725 §2, Wycheproof's, and those with a CVE.

@Test(arguments: [
  "none", "None", "nOnE", "NONE", "none ", " none", "", "n\\u006fne", "none\\u0009",
])
func `no spelling of none is an algorithm`(name: String) throws {
  let header = Array(#"{"alg":"\#(name)"}"#.utf8).base64URL
  let payload = Array(#"{"sub":"ann"}"#.utf8).base64URL
  for verifier in [try TokenVerifier.forPublicKeys(), try .forSecret()] {
    #expect(verifier.refusal(of: "\(header).\(payload).") == .algorithm)
    #expect(verifier.refusal(of: "\(header).\(payload).AAAA") == .algorithm)
  }
}

@Test func `a public key is no secret, in whatever form`() throws {
  let ec = TestKeys.p256.publicKey
  let rsa = try TestKeys.rsa.get().publicKey
  let secrets: [[UInt8]] = [
    Array(ec.pemRepresentation.utf8), Array(ec.pemRepresentation.utf8) + [0x0A],
    Array(ec.derRepresentation), Array(ec.rawRepresentation), Array(ec.x963Representation),
    Array(rsa.pemRepresentation.utf8), Array(rsa.derRepresentation),
    Array(rsa.pkcs1PEMRepresentation.utf8), Array(TestKeys.es256JWK().utf8),
    Array(TestKeys.ed25519.publicKey.rawRepresentation), Array(try TestKeys.all().utf8), [],
  ]
  let verifier = try TokenVerifier.forPublicKeys()
  // Settings that nobody can make with these keys: even then there is no key for it.
  let settings = TokenSettings(algorithms: SigningAlgorithm.allCases)
  let careless = TokenVerifier(settings: settings, keys: verifier.keys)
  for secret in secrets {
    for name in ["HS256", "HS384", "HS512"] {
      let token = try TestKeys.hmac(name, secret).token()
      #expect(verifier.refusal(of: token) == .algorithm)
      #expect(careless.refusal(of: token) == .key)
      #expect(careless.refusal(of: try TestKeys.hmac(name, secret).token(kid: "rsa")) == .key)
    }
  }
}

@Test func `HMAC with keys, and others with a secret, cannot be configured`() throws {
  let set = try TestKeys.all()
  #expect(throws: KeyProblem.self) { try KeySet(jwks: set, algorithms: [.es256, .hs256]) }
  #expect(throws: KeyProblem.self) {
    try KeySet(secret: TestKeys.secret, algorithms: [.hs256, .rs256])
  }
}

/// Signatures of ES256 that are none, with r and s of 32 bytes.
private func badSignatures() -> [(String, [UInt8])] {
  let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
    0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]
  let zero = [UInt8](repeating: 0, count: 32)
  let one: [UInt8] = zero.dropLast() + [1]
  let highest = [UInt8](repeating: 255, count: 32)
  return [
    ("CVE-2022-21449", zero + zero), ("r = 0", zero + one), ("s = 0", one + zero),
    ("r = s = 1", one + one), ("r = n", order + one), ("s = n", one + order),
    ("r = s = n", order + order), ("r = n, s = 0", order + zero), ("beyond", highest + highest),
    ("none", []), ("half", one), ("one byte", [0]), ("short", Array((one + one).dropLast())),
    ("long", one + one + [0]), ("long in front", [0] + one + one), ("of P-384", one + one + one),
  ]
}

@Test func `no signature that is none is good for ES256`() throws {
  let verifier = try TokenVerifier.forPublicKeys()
  for (name, signature) in badSignatures() {
    let token = try Signer(algorithm: "ES256") { _ in signature }.token()
    #expect(verifier.refusal(of: token) == .signature, "\(name)")
  }
}

@Test func `a signature in DER is refused`() throws {
  let signer = Signer(algorithm: "ES256") {
    Array(try TestKeys.p256.signature(for: $0).derRepresentation)
  }
  #expect(try TokenVerifier.forPublicKeys().refusal(of: signer.token()) == .signature)
}

@Test func `signatures of another length are refused`() throws {
  let publicKeys = try TokenVerifier.forPublicKeys()
  let signers = [
    TestKeys.es256(), TestKeys.es384, TestKeys.es512, TestKeys.edDSA, TestKeys.rsa("RS256"),
    TestKeys.rsa("PS256"), TestKeys.hmac(),
  ]
  for signer in signers {
    let verifier = signer.algorithm == "HS256" ? try TokenVerifier.forSecret() : publicKeys
    for change in [{ [0] + $0 }, { $0 + [0] }, { Array($0.dropLast()) }, { _ in [] }]
      as [@Sendable ([UInt8]) -> [UInt8]]
    {
      let changed = Signer(algorithm: signer.algorithm) { change(try signer.sign($0)) }
      #expect(verifier.refusal(of: try changed.token()) == .signature, "\(signer.algorithm)")
    }
  }
}

@Test func `a key that the token brings is not used`() throws {
  let evil = P256.Signing.PrivateKey()
  let jwk = TestKeys.es256JWK(evil)
  let certificate = Array(evil.publicKey.derRepresentation).base64URL
  for member in [
    #""jwk":\#(jwk)"#, #""jku":"https://evil.example/jwks.json""#, #""x5c":["\#(certificate)"]"#,
    #""x5u":"https://evil.example/cert""#, #""jwk":\#(jwk),"kid":"p256""#,
  ] {
    let header = #"{"alg":"ES256",\#(member)}"#
    let verifier = try TokenVerifier.forPublicKeys()
    let forged = try TestKeys.es256(evil).token(header: header, payload: "{}")
    #expect(verifier.refusal(of: forged) == .signature, "\(member)")
    // The members themselves are nothing bad.
    let good = try TestKeys.es256().token(header: header, payload: "{}")
    #expect(verifier.refusal(of: good) == nil, "\(member)")
  }
}

@Test(arguments: [
  #"{"alg":"HS256","crit":["exp"]}"#, #"{"alg":"HS256","crit":[]}"#,
  #"{"alg":"HS256","crit":null}"#,
  #"{"alg":"HS256","crit":["b64"],"b64":false}"#, #"{"alg":"HS256","alg":"HS256"}"#,
  #"{"alg":"none","alg":"HS256"}"#, #"{"alg":"HS256","\u0061lg":"none"}"#,
  #"{"alg":"HS256","kid":"a","kid":"b"}"#, #"{"alg":"HS256","x":{"a":1,"a":2}}"#, "{}",
  #"{"typ":"JWT"}"#, #"{"alg":null}"#, #"{"alg":256}"#, #"{"alg":["HS256"]}"#,
  #"{"Alg":"HS256"}"#, #"["alg","HS256"]"#, #""HS256""#, "null", "", " ", #"{"alg":"HS256""#,
  #"{"alg":"HS256"}x"#, #"{"alg":"HS256"}{}"#, #"{"alg":"HS256","kid":7}"#,
  #"{"alg":"HS256","kid":null}"#, #"{"alg":"HS256","x":"\u0000"}"#,
  #"{"alg":"HS256","x":"\ud800"}"#,
  "\u{feff}{\"alg\":\"HS256\"}",
]) func `a header that is unclear, or wants what is not understood, is refused`(
  header: String
) throws {
  let token = try TestKeys.hmac().token(header: header, payload: #"{"sub":"ann"}"#)
  #expect(try TokenVerifier.forSecret().refusal(of: token) == .malformed)
}

@Test(arguments: [
  "ＨＳ256", "hs256", "HS256 ", "HS256\\u0000", "HS\\u200b256", "HS２56", "HS256\u{301}",
]) func `a name that looks like an algorithm's is not one`(name: String) throws {
  let token = try TestKeys.hmac().token(header: #"{"alg":"\#(name)"}"#, payload: "{}")
  let refusal = try TokenVerifier.forSecret().refusal(of: token)
  #expect(refusal == (name.contains("u0000") ? .malformed : .algorithm))
}

@Test func `a header and claims that are not UTF-8 are refused`() throws {
  let header = Array(#"{"alg":"HS256","x":""#.utf8) + [0xC0, 0x80] + Array("\"}".utf8)
  let verifier = try TokenVerifier.forSecret()
  #expect(
    verifier.refusal(of: try TestKeys.hmac().token(header: header, payload: [])) == .malformed)
  let payload = Array(#"{"sub":""#.utf8) + [0xFF] + Array("\"}".utf8)
  let good = Array(#"{"alg":"HS256"}"#.utf8)
  #expect(
    verifier.refusal(of: try TestKeys.hmac().token(header: good, payload: payload)) == .claims)
}

@Test(arguments: [
  "", "[]", "null", "7", #""ann""#, #"{"sub":"ann"} x"#, #"{"sub":"ann","sub":"bob"}"#,
  #"{"sub":"a\u0000b"}"#, #"{"x":{"y":["\u0000"]}}"#,
]) func `claims that are not one clear object are refused, though they are signed`(
  payload: String
) throws {
  #expect(try TokenVerifier.forSecret().refusal(of: TestKeys.hmac().token(payload)) == .claims)
}

@Test func `ten thousand brackets are refused, before and after the signature`() throws {
  // A whole token has 8192 bytes; what is signed by HMAC here is as deep as that can be.
  let brackets = String(repeating: "[", count: 2900)
  let verifier = try TokenVerifier.forSecret()
  let header = try TestKeys.hmac().token(header: #"{"alg":"# + brackets, payload: "{}")
  #expect(verifier.refusal(of: header) == .malformed)
  let payload = try TestKeys.hmac().token(#"{"a":"# + brackets)
  #expect(verifier.refusal(of: payload) == .claims)
  let huge = try TestKeys.hmac().token(#"{"a":"# + String(repeating: "[", count: 10_000))
  #expect(verifier.refusal(of: huge) == .malformed)
}

@Test func `a token of 8192 bytes is read, and one of 8193 is not`() throws {
  let verifier = try TokenVerifier.forSecret()
  func token(_ size: Int) throws -> String {
    try TestKeys.hmac().token(#"{"a":""# + String(repeating: "a", count: size) + "\"}")
  }
  // Three bytes are four characters; the last is completed by the header.
  let largest = try #require(try (6000..<6200).map(token).last { $0.utf8.count <= 8192 })
  #expect(largest.utf8.count > 8188)
  #expect(verifier.refusal(of: largest) == nil)
  #expect(
    verifier.refusal(of: largest + String(repeating: "A", count: 8193 - largest.utf8.count))
      == .malformed)
  #expect(verifier.refusal(of: String(repeating: ".", count: 10_000_000)) == .malformed)
}

@Test func `what is not exactly three parts of base64url is refused`() throws {
  let verifier = try TokenVerifier.forSecret()
  let token = try TestKeys.hmac().token()
  let parts = token.split(separator: ".").map(String.init)
  let bad = [
    "", ".", "..", "...", token + ".", "." + token, token + ".AAAA", parts[0] + "." + parts[1],
    parts[0] + parts[1] + "." + parts[2], token + "=", token + "==", token + "\n", " " + token,
    token + " ", token + "\0", "Bearer " + token,
    parts[0] + "=." + parts[1] + "." + parts[2], parts[0] + " ." + parts[1] + "." + parts[2],
    token.replacing(".", with: "%2E"),
    token.replacing(".", with: "\u{ff0e}"), token.replacing("e", with: "е"),
    "{\"payload\":\"\(parts[1])\",\"protected\":\"\(parts[0])\",\"signature\":\"\(parts[2])\"}",
  ]
  for text in bad {
    let reason = verifier.refusal(of: text)
    #expect(reason == .malformed, "\(text): \(String(describing: reason))")
  }
  // The claims are not even read where they are not signed like that.
  for changed in ["", parts[1] + "=", parts[1] + "\r\n", " " + parts[1]] {
    #expect(verifier.refusal(of: parts[0] + "." + changed + "." + parts[2]) == .signature)
  }
  #expect(verifier.refusal(of: parts[0] + "..") == .signature)
  // Five parts are an encrypted token (RFC 7516).
  #expect(verifier.refusal(of: "a.b.c.d.e") == .malformed)
  #expect(verifier.refusal(of: token) == nil)
}

@Test func `bits at the end of a part that mean nothing are refused`() throws {
  let verifier = try TokenVerifier.forSecret()
  let token = try TestKeys.hmac().token()
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
  let last = try #require(token.last.flatMap(alphabet.firstIndex))
  // 32 bytes are 42 characters and two thirds: of the last, 2 bits are left over.
  for other in (last & ~3)..<(last & ~3) + 4 where other != last {
    #expect(verifier.refusal(of: token.dropLast() + String(alphabet[other])) == .malformed)
  }
}
