import Callers
import Testing
import TestSupport

@Suite struct `Random tokens` {
  static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  static let payload = #"{"sub":"ann","role":["customer","admin"],"exp":1800003600}"#

  /// Good tokens, with who verifies them.
  static func goodTokens() throws -> [(String, TokenVerifier)] {
    let publicKeys = try TokenVerifier.forPublicKeys()
    return [
      (try TestKeys.hmac().token(payload), try .forSecret()),
      (try TestKeys.es256().token(payload, kid: "p256"), publicKeys),
      (try TestKeys.edDSA.token(payload, kid: "ed"), publicKeys),
      (try TestKeys.rsa("RS256").token(payload, kid: "rsa"), publicKeys),
      (try TestKeys.rsa("PS256").token(payload), publicKeys),
    ]
  }

  @Test func `a good token is not good with any one bit or character changed`() throws {
    for (token, verifier) in try Self.goodTokens() {
      try #require(verifier.refusal(of: token) == nil)
      let bytes = Array(token.utf8)
      // Signatures of RSA are long, and one byte of them is as another.
      for place in stride(from: 0, to: bytes.count, by: bytes.count > 300 ? 7 : 1) {
        for bit in 0..<7 {
          var changed = bytes
          changed[place] ^= 1 << bit
          let text = String(decoding: changed, as: UTF8.self)
          #expect(verifier.refusal(of: text) != nil, "bit \(bit) of byte \(place): \(text)")
        }
        let text = String(decoding: bytes[..<place] + bytes[(place + 1)...], as: UTF8.self)
        #expect(verifier.refusal(of: text) != nil, "without byte \(place): \(text)")
      }
    }
  }

  @Test func `a good token is not good when it is changed at random`() throws {
    let seed = RandomSource.seed
    let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 1000
    print("random tokens: DIDCHANGE_SEED=\(seed), \(steps) steps")
    var random = RandomSource(seed: seed)
    let tokens = try Self.goodTokens()
    for step in 0..<steps {
      let (token, verifier) = random.pick(tokens)
      var bytes = Array(token.utf8)
      for _ in 0..<random.number(1...4) { Self.change(&bytes, &random) }
      let text = String(decoding: bytes, as: UTF8.self)
      if text == token { continue }
      #expect(verifier.refusal(of: text) != nil, "step \(step), DIDCHANGE_SEED=\(seed): \(text)")
    }
  }

  @Test func `parts of good tokens do not make another good one`() throws {
    let tokens = try Self.goodTokens()
    for (i, (a, _)) in tokens.enumerated() {
      for (j, (b, verifier)) in tokens.enumerated() where i != j {
        let (x, y) = (a.split(separator: "."), b.split(separator: "."))
        for mixed in [[x[0], y[1], y[2]], [y[0], y[1], x[2]], [x[0], x[1], y[2]]] {
          let text = mixed.joined(separator: ".")
          guard text != b else { continue }
          #expect(verifier.refusal(of: text) != nil, "\(i), \(j): \(text)")
        }
      }
    }
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout RandomSource) {
    guard !bytes.isEmpty else { return }
    let place = random.number(0...bytes.count - 1)
    switch random.number(0...5) {
    case 0: bytes[place] = random.pick(alphabet)
    case 1: bytes[place] = UInt8(random.number(0...127))
    case 2: bytes.insert(random.pick(alphabet), at: place)
    case 3: bytes.remove(at: place)
    case 4: bytes.swapAt(place, random.number(0...bytes.count - 1))
    default: bytes.removeLast(random.number(1...min(8, bytes.count)))
    }
  }
}
