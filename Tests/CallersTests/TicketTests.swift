import Callers
import Foundation
import Locks
import TestSupport
import Testing

private func identities() throws -> [CallerIdentity] {
  let claims = try Claims(json: #"{"sub":"ann","n":7.0,"org":{"id":9007199254740993},"é":"\n\""}"#)
  let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
  return [
    .token(claims: claims, expires: nil, key: "k", name: "ann"),
    .token(claims: claims, expires: now + 0.1, key: "k", name: "ann"),
    .token(claims: try Claims(json: #"{"deep":\#(deep)}"#), expires: 1e300, key: "", name: "?"),
    .opaque(token: "abc"), .headers(claims), .headers(Claims()),
  ]
}

private func refusal(_ tickets: Tickets, _ text: String, at time: UnixSeconds = now) -> TicketError?
{
  do throws(TicketError) {
    _ = try tickets.redeem(text, now: time)
    return nil
  } catch {
    return error
  }
}

@Test func `a ticket gives back the caller, once`() throws {
  let tickets = Tickets()
  for identity in try identities() {
    let ticket = try tickets.issue(for: identity, now: now)
    let caller = try tickets.redeem(ticket.text, now: now + 0.05)
    #expect(caller == identity)
    #expect(caller.key == identity.key)
    #expect(refusal(tickets, ticket.text, at: now + 0.05) == .used)
  }
}

@Test func `a ticket that is looked at is as good as before`() throws {
  let tickets = Tickets()
  let identity = try #require(try identities().first)
  let ticket = try tickets.issue(for: identity, now: now)
  #expect(try tickets.inspect(ticket.text, now: now) == identity)
  #expect(throws: TicketError.expired) { try tickets.inspect(ticket.text, now: now + 30) }
  #expect(throws: TicketError.notGood) { try Tickets().inspect(ticket.text, now: now) }
  #expect(try tickets.redeem(ticket.text, now: now) == identity)
  #expect(throws: TicketError.used) { try tickets.inspect(ticket.text, now: now) }
}

@Test func `a ticket may stand in a URL as it is, and does not show the caller`() throws {
  let tickets = Tickets()
  let claims = Claims([("sub", .string(String(repeating: "ann", count: 100)))])
  let ticket = try tickets.issue(for: .headers(claims), now: now)
  #expect(ticket.text.hasPrefix("t1."))
  #expect(
    ticket.text.utf8.allSatisfy {
      UInt8(ascii: "-") == $0 || ($0 != 0x2B && $0 != 0x2F && $0 != 0x3D)
    })
  #expect(!ticket.text.contains(Array("annann".utf8).base64URL))
  let second = try tickets.issue(for: .headers(claims), now: now)
  #expect(second.text.dropFirst(3).prefix(20) != ticket.text.dropFirst(3).prefix(20))
}

@Test func `a ticket is good for 30 seconds, and not for longer than the token`() throws {
  let tickets = Tickets()
  let ticket = try tickets.issue(for: .opaque(token: "a"), now: now)
  #expect(ticket.expires == now + 30)
  #expect(refusal(tickets, ticket.text, at: now + 30) == .expired)
  #expect(refusal(tickets, ticket.text, at: now + 29.9) == nil)
  let short = try tickets.issue(
    for: .token(claims: Claims(), expires: now + 5, key: "k", name: "?"), now: now)
  #expect(short.expires == now + 5)
  #expect(refusal(tickets, short.text, at: now + 5) == .expired)
}

@Test func `a ticket from much later is not taken: it would have to be remembered for as long`()
  throws
{
  let tickets = Tickets()
  let ticket = try tickets.issue(for: .opaque(token: "a"), now: now + 31)
  #expect(refusal(tickets, ticket.text, at: now) == .notGood)
  // The other server's clock may be ahead by half a minute.
  #expect(refusal(tickets, ticket.text, at: now + 1) == nil)
}

@Test func `servers with one key know each other's tickets, others do not`() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write(String(repeating: "k", count: 32), to: "ticket.key")
  let (a, b) = (Tickets(key: try TicketKey(path: path)), Tickets(key: try TicketKey(path: path)))
  let other = Tickets(key: try TicketKey(path: try folder.write(TestKeys.secret, to: "other.key")))
  let ticket = try a.issue(for: .opaque(token: "a"), now: now)
  #expect(refusal(other, ticket.text) == .notGood)
  #expect(refusal(Tickets(), ticket.text) == .notGood)
  #expect(refusal(b, ticket.text) == nil)
  #expect(refusal(b, ticket.text) == .used)
}

@Test func `a ticket key has 32 bytes at least`() throws {
  let folder = try TemporaryFolder()
  let path = try folder.write(String(repeating: "k", count: 31), to: "ticket.key")
  let error = #expect(throws: KeyProblem.self) { try TicketKey(path: path) }
  #expect(error?.message.hasPrefix("\(path) has 31 bytes, and a ticket key needs 32") == true)
  #expect(throws: KeyProblem.self) { try TicketKey(path: folder.file("none")) }
}

@Test func `what is not a ticket, or changed, is not good`() throws {
  let tickets = Tickets()
  let text = try tickets.issue(for: .opaque(token: "a"), now: now).text
  for bad in [
    "", "t1.", "t1.AAAA", "t2." + text.dropFirst(3), String(text.dropFirst(3)), text + "A",
    text + "=",
    " " + text, "t1." + String(repeating: "A", count: 10_000),
    "t1." + String(repeating: "A", count: 60),
  ] {
    #expect(refusal(tickets, bad) == .notGood, "\(bad)")
  }
  let bytes = Array(text.utf8)
  for place in bytes.indices {
    for bit in 0..<7 {
      var changed = bytes
      changed[place] ^= 1 << bit
      let bad = String(decoding: changed, as: UTF8.self)
      #expect(refusal(tickets, bad) == .notGood, "bit \(bit) of byte \(place): \(bad)")
    }
  }
  // All of that has not used it up.
  #expect(refusal(tickets, text) == nil)
}

@Test func `who is anonymous gets no ticket`() {
  #expect(throws: TicketError.anonymous) { try Tickets().issue(for: .anonymous, now: now) }
}

@Test func `a caller with much to say gets no ticket above 6000 bytes`() throws {
  let tickets = Tickets()
  func claims(_ size: Int) -> CallerIdentity {
    .headers(Claims([("groups", .string(String(repeating: "g", count: size)))]))
  }
  #expect(throws: TicketError.tooLarge) { try tickets.issue(for: claims(4500), now: now) }
  let ticket = try tickets.issue(for: claims(4300), now: now)
  #expect(ticket.text.utf8.count <= 6000)
  #expect(refusal(tickets, ticket.text) == nil)
}

@Test func `when more are used than can be remembered, no more are taken until some expire`() throws
{
  let tickets = Tickets(capacity: 3)
  let texts = try (0..<5).map {
    try tickets.issue(for: .opaque(token: "\($0)"), now: now + Double($0)).text
  }
  for text in texts[..<3] { #expect(refusal(tickets, text, at: now + 4) == nil) }
  #expect(refusal(tickets, texts[3], at: now + 4) == .crowded)
  #expect(refusal(tickets, texts[0], at: now + 4) == .used)
  // The first has expired, and its second is over.
  #expect(refusal(tickets, texts[3], at: now + 31) == nil)
  #expect(refusal(tickets, texts[4], at: now + 31) == .crowded)
  #expect(refusal(tickets, texts[3], at: now + 31) == .used)
}

@Test func `a caller who uses too many keeps nobody else out`() throws {
  let tickets = Tickets(share: 2)
  let ann = CallerIdentity.opaque(token: "ann")
  let texts = try (0..<4).map { try tickets.issue(for: ann, now: now + 10 * Double($0)).text }
  #expect(texts[..<3].map { refusal(tickets, $0, at: now + 20) } == [nil, nil, .crowded])
  let bob = try tickets.issue(for: .opaque(token: "bob"), now: now).text
  #expect(refusal(tickets, bob, at: now + 20) == nil)
  // The first has expired.
  #expect(refusal(tickets, texts[3], at: now + 31) == nil)
  #expect(refusal(tickets, texts[2], at: now + 31) == .crowded)
}

@Test func `of many threads that use a ticket one gets in`() throws {
  let tickets = Tickets()
  for round in 0..<50 {
    let text = try tickets.issue(for: .opaque(token: "\(round)"), now: now).text
    let entries = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      if refusal(tickets, text) == nil { entries.add(1, ordering: .relaxed) }
    }
    #expect(entries.load(ordering: .relaxed) == 1)
  }
}

@Test(arguments: TicketError.allCases)
func `a ticket's error has a text for the client and one for the log`(error: TicketError) {
  #expect(error.detail.hasSuffix("."))
  #expect(!error.explanation.isEmpty)
}
