import Foundation
import Locks
import Testing

@testable import FetchedRecordsClient

/// The Swift client of somebody who has signed in.
@Suite(.promptTasks, .endToEnd) struct `A remote controller's caller` {
  /// Gives the next token each time.
  private final class Tokens: Sendable {
    private let tokens: Mutex<[String?]>
    private let asked = Mutex<[Bool]>([])

    init(_ tokens: String?...) { self.tokens = Mutex(tokens) }

    var reasons: [Bool] { asked.withLock { $0 } }

    func next(_ isExpired: Bool) -> String? {
      asked.withLock { $0.append(isExpired) }
      return tokens.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
  }

  private let shop: Shop

  init() throws { shop = try Shop() }

  private func spectator(_ query: String, _ tokens: Tokens?) throws -> Spectator<AnyRecord> {
    var token: RemoteRecordsController<AnyRecord>.Token?
    if let tokens { token = { tokens.next($0) } }
    return Spectator(
      RemoteRecordsController<AnyRecord>(
        try shop.fixture.query(query), token: token,
        settings: LinkSettings(longestWait: .milliseconds(20))))
  }

  @Test func `is known by a token`() throws {
    let spectator = try spectator("orders", Tokens(Shop.token("ann")))
    try spectator.wait(until: "ann's") {
      $0.records.map { $0["item"] } == [.text("Anvil"), .text("Bell")]
    }
    try shop.writer.commit("INSERT INTO purchase VALUES (6, 7, 'Fan', 60), (7, 8, 'Gong', 70)")
    try spectator.wait(until: "one more") { $0.records.count == 3 }
  }

  @Test func `is asked again where a token is no longer good`() throws {
    let tokens = Tokens("nobody", Shop.token("ann"))
    let spectator = try spectator("orders", tokens)
    try spectator.wait(until: "ann's") { $0.records.count == 2 && $0.state == .live }
    #expect(tokens.reasons == [false, true])
    #expect(spectator.read(\.troubles).isEmpty)
  }

  @Test func `has signed out where there is no other token, and shows nothing`() throws {
    let spectator = try spectator("orders", Tokens(Shop.token("ann")))
    try spectator.wait(until: "ann's") { $0.records.count == 2 }
    try shop.writer.commit(Shop.signOut("ann"))
    let end = try spectator.wait(for: "its end") { $0.end }
    let error = #expect(throws: RemoteRecordsError.self) { try end.get() }
    #expect(error?.reason == .signedOut && error?.status == 401)
    try spectator.wait(until: "it has signed out") { $0.state == .signedOut && $0.records.isEmpty }
    #expect(spectator.read { $0.changes.last?.isReset } == true)
  }

  @Test func `is refused without a token, and what is not theirs`() throws {
    for (query, tokens, state, status) in [
      ("orders", nil, RemoteRecordsState.signedOut, 401),
      ("ledger", Tokens(Shop.token("ann")), .forbidden, 403),
    ] {
      let spectator = try spectator(query, tokens)
      try spectator.wait(until: "\(state)") { $0.state == state }
      #expect(spectator.read { $0.troubles.last?.status } == status)
    }
    let notices = try spectator("notices", nil)
    try notices.wait(until: "what anyone may read") { $0.records.count == 1 }
  }

  @Test func `is told when a token function fails, which is asked again`() throws {
    struct Failure: Error {}
    let url = try shop.fixture.query("orders")
    let counter = Counter()
    let spectator = Spectator(
      RemoteRecordsController<AnyRecord>(
        url,
        token: { _ in
          guard counter.next() > 2 else { throw Failure() }
          return Shop.token("ann")
        }, settings: LinkSettings(longestWait: .milliseconds(20))))
    try spectator.wait(until: "ann's") { $0.records.count == 2 }
    #expect(spectator.read { $0.troubles.map(\.reason) } == [.token])
  }

  @Test func `is told so by a BLOB, too`() async throws {
    struct Failure: Error {}
    let url = try shop.fixture.query("orders")
    let controller = RemoteRecordsController<AnyRecord>(url, token: { _ in throw Failure() })
    let error = await #expect(throws: RemoteRecordsError.self) {
      try await controller.data(of: RemoteBlob(url: "records/1/photo", bytes: 1))
    }
    #expect(error?.reason == .token && error?.underlyingError is Failure)
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
      count.withLock {
        $0 += 1
        return $0
      }
    }
  }

  @Test func `is shown other records when their claims change`() throws {
    let spectator = try spectator("shelf", Tokens(Shop.token("ann")))
    try spectator.wait(until: "level 1") { $0.records.count == 190 }
    try shop.writer.commit(Shop.change("ann", "level = 2"))
    try spectator.wait(until: "level 2") { $0.records.count == 200 }
    #expect(spectator.read { $0.changes.count } == 2)
    #expect(spectator.read { $0.changes.filter(\.isReset).count } == 1)
  }
}
