import Callers
import CryptoExtras
import Foundation
import TestSupport
import Testing

private func problem(
  _ set: String, _ algorithms: [SigningAlgorithm] = [.es256, .rs256, .edDSA]
) -> String? {
  do {
    _ = try KeySet(jwks: set, algorithms: algorithms)
    return nil
  } catch {
    return error.message
  }
}

@Test func `a key is used for each listed algorithm of its type, or for the one it names`() throws {
  let rsa = try TestKeys.rsaJWK()
  let algorithms: [SigningAlgorithm] = [.rs256, .ps512, .es256]
  #expect(try KeySet(jwks: TestKeys.set([rsa]), algorithms: algorithms).count == 2)
  let named = try TestKeys.rsaJWK(more: #","alg":"PS512","use":"sig","key_ops":["verify"]"#)
  #expect(try KeySet(jwks: TestKeys.set([named]), algorithms: algorithms).count == 1)
}

@Test(arguments: [
  (#","use":"enc""#, "its use is not sig"), (#","use":"Sig""#, "its use is not sig"),
  (#","use":7"#, "its use is not sig"), (#","key_ops":["sign"]"#, "its key_ops have no verify"),
  (#","key_ops":"verify""#, "its key_ops have no verify"),
  (#","alg":"ES384""#, "it is for no algorithm that is listed"),
  (#","alg":"ECDH-ES""#, "it is for no algorithm that is listed"),
  (#","alg":null"#, "it is for no algorithm that is listed"),
]) func `a key that is for something else is left out, and said so`(
  more: String, reason: String
) throws {
  let set = TestKeys.set([TestKeys.es256JWK(more: more), TestKeys.edDSAJWK()])
  let keys = try KeySet(jwks: set, algorithms: [.es256, .edDSA])
  #expect(keys.count == 1)
  #expect(keys.unused == ["key 1 is not used: \(reason)"])
  let message = try #require(problem(TestKeys.set([TestKeys.es256JWK(more: more)])))
  #expect(message.contains("there is no key for ES256, RS256, EdDSA"))
  #expect(message.contains(reason))
}

@Test(arguments: [
  #"{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
  #"{"kty":"OKP","crv":"X25519","x":"AA"}"#, #"{"kty":"OKP","crv":"Ed448","x":"AA"}"#,
  #"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#, #"{"kty":"EC"}"#, #"{"kty":"new"}"#,
  #"{"kty":"ec","crv":"P-256"}"#,
]) func `a key of a type that is not known is left out (RFC 7517 5)`(key: String) throws {
  let keys = try KeySet(jwks: TestKeys.set([key, TestKeys.es256JWK()]), algorithms: [.es256])
  #expect(keys.count == 1)
  #expect(keys.unused.count == 1)
}

@Test(arguments: [
  ("", "is not JSON"), ("[]", "is not JSON: it is not an object"), ("{}", "no array named keys"),
  (#"{"keys":{}}"#, "no array named keys"), (#"{"keys":[]}"#, "there is no key for"),
  (#"{"keys":[7]}"#, "key 1 of the key set is not an object"),
  (#"{"keys":[{}]}"#, "key 1 of the key set has no kty"),
  (#"{"keys":[{"kty":7}]}"#, "key 1 of the key set has no kty"),
  (#"{"keys":[{"kty":"EC","kid":7}]}"#, "the kid of key 1 of the key set is not a text"),
  (#"{"keys":[],"keys":[]}"#, "two members have the name \"keys\""),
  (#"{"keys":[{"kty":"EC","crv":"P-256"}]}"#, "key 1 has no x in base64url"),
  (#"{"keys":[{"kty":"EC","crv":"P-256","x":"A A","y":"AA"}]}"#, "key 1 has no x in base64url"),
  (#"{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AA"}]}"#, "key 1 has a x of 3 bytes"),
  (#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}"#, "key 1 has a x of 3 bytes"),
  (#"{"keys":[{"kty":"RSA","n":"AQAB"}]}"#, "key 1 has no e in base64url"),
  (
    #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
    "key 1 has 17 bits, and an RSA key must have"
  ),
]) func `a set that is not good is refused, with the place of the key`(
  set: String, message: String
) throws {
  let text = try #require(problem(set))
  #expect(text.contains(message), "\(text)")
}

@Test func `a point that is not on the curve is no key`() {
  let zero = [UInt8](repeating: 0, count: 32).base64URL
  let key = #"{"kty":"EC","crv":"P-256","x":"\#(zero)","y":"\#(zero)"}"#
  #expect(problem(TestKeys.set([key])) == "key 1 is not a key for ES256")
}

@Test(arguments: [1024, 2047]) func `an RSA key under 2048 bits is refused`(bits: Int) {
  var modulus = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
  if bits % 8 > 0 { modulus[0] >>= UInt8(8 - bits % 8) }
  // Zeros in front do not make it longer.
  for n in [modulus, [0, 0] + modulus + []] {
    let key = #"{"kty":"RSA","n":"\#(n.base64URL)","e":"AQAB"}"#
    #expect(
      problem(TestKeys.set([key])) == "key 1 has \(bits) bits, and an RSA key must have 2048")
  }
}

@Test(arguments: ["AQ", "AAE", "Ag", "AQAA", "AA"])
func `an RSA key with an exponent of 0, 1 or an even one is refused`(exponent: String) {
  let modulus = [UInt8](repeating: 0xFF, count: 256).base64URL
  let key = #"{"kty":"RSA","n":"\#(modulus)","e":"\#(exponent)"}"#
  #expect(problem(TestKeys.set([key])) == "key 1 has an exponent that RSA cannot have")
}

@Test func `a private key in the set is used for its public part`() throws {
  let d = Array(TestKeys.p256.rawRepresentation).base64URL
  let set = TestKeys.set([TestKeys.es256JWK(more: #","d":"\#(d)""#)])
  let verifier = try TokenVerifier(jwks: set, [.es256])
  #expect(verifier.refusal(of: try TestKeys.es256().token()) == nil)
}

@Test func `keys load where all threads of the concurrency runtime are held`() async throws {
  let set = try TestKeys.all()
  await withTaskGroup(of: Bool.self) { group in
    for _ in 0..<16 {
      group.addTask { (try? KeySet(jwks: set, algorithms: [.es256, .edDSA]))?.count == 2 }
    }
    for await isLoaded in group { #expect(isLoaded) }
  }
}

@Test(arguments: [(SigningAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)])
func `a secret is as long as the hash, or refused`(algorithm: SigningAlgorithm, size: Int) throws {
  let keys = try KeySet(secret: [UInt8](repeating: 7, count: size), algorithms: [algorithm])
  #expect(keys.count == 1)
  let error = #expect(throws: KeyProblem.self) {
    try KeySet(secret: [UInt8](repeating: 7, count: size - 1), algorithms: [.hs256, algorithm])
  }
  let message = "the secret has \(size - 1) bytes, and \(algorithm.rawValue) needs \(size) at least"
  #expect(error?.message.hasPrefix(message) == true)
}

@Test(arguments: [
  ("", 40), ("\n", 40), ("\r\n", 40), ("\n\n", 41), ("\r", 41), (" ", 41),
]) func `one line end after a secret does not belong to it`(end: String, count: Int) throws {
  let folder = try TemporaryFolder()
  let path = try folder.write(String(repeating: "s", count: 40) + end, to: "secret")
  #expect(try SecretSource.file(path: path).read(for: [.hs256]).count == count)
}

@Test func `a secret that is missing or short is refused, and the message does not have it`() throws
{
  let folder = try TemporaryFolder()
  let path = try folder.write("short", to: "secret")
  for (source, message) in [
    (
      SecretSource.file(path: path),
      "the secret in \(path) has 5 bytes, and HS256 needs 32 at least"
    ),
    (.file(path: folder.file("none")), "\(folder.file("none")) cannot be read: No such file"),
    (.file(path: folder.path), "\(folder.path) is not a regular file"),
    (.environment("DIDCHANGE_NO_SUCH"), "the environment variable DIDCHANGE_NO_SUCH is not set"),
  ] {
    let error = #expect(throws: KeyProblem.self) { try source.read(for: [.hs256]) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("short") == false)
  }
}
