import Callers
import TestSupport
import Testing

/// Some good tokens, each with a claim of its own, which expire at that second and the leeway.
private func tokens(_ count: Int) throws -> [(key: TokenDigest, token: VerifiedToken)] {
  let verifier = try TokenVerifier.forSecret()
  return try (0..<count).map { number in
    let text = try TestKeys.hmac().token(#"{"sub":\#(number),"exp":\#(1000 + number)}"#)
    return (TokenDigest(of: text), try verifier.verify(text, now: 0))
  }
}

@Test func `the token that was not used for longest is forgotten`() throws {
  let cache = TokenCache(capacity: 2)
  let tokens = try tokens(3)
  cache.insert(tokens[0].token, for: tokens[0].key, generation: 0)
  cache.insert(tokens[1].token, for: tokens[1].key, generation: 0)
  #expect(cache.token(for: tokens[0].key, now: 0, generation: 0)?.identity.name == "0")
  cache.insert(tokens[2].token, for: tokens[2].key, generation: 0)
  #expect(cache.token(for: tokens[1].key, now: 0, generation: 0) == nil)
  #expect(cache.token(for: tokens[0].key, now: 0, generation: 0)?.identity.name == "0")
  #expect(cache.token(for: tokens[2].key, now: 0, generation: 0)?.identity.name == "2")
}

@Test func `an expired token is forgotten`() throws {
  let cache = TokenCache(capacity: 2)
  let one = try tokens(1)[0]
  cache.insert(one.token, for: one.key, generation: 0)
  #expect(cache.token(for: one.key, now: 1029.9, generation: 0) != nil)
  #expect(cache.token(for: one.key, now: 1030, generation: 0) == nil)
  #expect(cache.count == 0)
}

@Test func `with other keys everything is forgotten, and nothing of the old ones comes back`()
  throws
{
  let cache = TokenCache(capacity: 8)
  let tokens = try tokens(3)
  cache.insert(tokens[0].token, for: tokens[0].key, generation: 0)
  #expect(cache.token(for: tokens[0].key, now: 0, generation: 1) == nil)
  cache.insert(tokens[1].token, for: tokens[1].key, generation: 1)
  #expect(cache.count == 1)
  cache.insert(tokens[2].token, for: tokens[2].key, generation: 0)
  #expect(cache.count == 1)
  #expect(cache.token(for: tokens[0].key, now: 0, generation: 0) == nil)
  #expect(cache.token(for: tokens[1].key, now: 0, generation: 1) != nil)
}

@Test func `the cache is as a list of the last used`() throws {
  let seed = RandomSource.seed
  print("random token cache: DIDCHANGE_SEED=\(seed)")
  var random = RandomSource(seed: seed)
  let tokens = try tokens(40)
  let cache = TokenCache(capacity: 16)
  // The last used at the end.
  var model: [Int] = []
  var time: UnixSeconds = 1000
  for step in 0..<3000 {
    let number = random.number(0...39)
    let (key, token) = tokens[number]
    let comment: Comment = "step \(step), DIDCHANGE_SEED=\(seed)"
    if random.once(in: 100) { time += 1 }
    if random.once(in: 2) {
      cache.insert(token, for: key, generation: 0)
      model.removeAll { $0 == number }
      if model.count == 16 { model.removeFirst() }
      model.append(number)
    } else {
      let found = cache.token(for: key, now: time, generation: 0)
      let isKnown = model.contains(number)
      model.removeAll { $0 == number }
      let isGood = isKnown && time < UnixSeconds(1030 + number)
      if isGood { model.append(number) }
      #expect(found?.identity.name == (isGood ? String(number) : nil), comment)
    }
    #expect(cache.count == model.count, comment)
    cache.checkInvariants()
  }
}
