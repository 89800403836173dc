import Testing

@testable import FetchedRecordsClient

@Suite struct `A token` {
  private struct Failure: Error {}

  /// Gives the next of these each time, and notes why it was asked.
  private actor Tokens {
    var tokens: [String?]
    var asked: [Bool] = []

    init(_ tokens: [String?]) { self.tokens = tokens }

    func next(_ isExpired: Bool) throws -> String? {
      asked.append(isExpired)
      guard !tokens.isEmpty else { throw Failure() }
      return tokens.removeFirst()
    }
  }

  private func keeper(_ tokens: String?...) -> (TokenKeeper, Tokens) {
    let tokens = Tokens(tokens)
    return (TokenKeeper { try await tokens.next($0) }, tokens)
  }

  @Test func `is asked for once, by many`() async throws {
    let (keeper, tokens) = keeper("a")
    async let first = keeper.get()
    async let second = keeper.get()
    #expect(try await [first, second] == ["a", "a"])
    #expect(try await keeper.get() == "a")
    #expect(await tokens.asked == [false])
  }

  @Test func `is renewed once where it was refused`() async throws {
    let (keeper, tokens) = keeper("a", "b", "c")
    #expect(try await keeper.get() == "a")
    #expect(try await keeper.renew("a") == "b")
    // Others were refused with the old one.
    #expect(try await keeper.renew("a") == "b")
    // One that never was good is the last.
    #expect(try await keeper.renew("b") == nil)
    #expect(await tokens.asked == [false, true])
  }

  @Test func `is none where the same is given again, or nothing`() async throws {
    let (same, _) = keeper("a", "a")
    _ = try await same.get()
    #expect(try await same.renew("a") == nil)
    let (nothing, _) = keeper("a", nil)
    _ = try await nothing.get()
    #expect(try await nothing.renew("a") == nil)
    let (empty, _) = keeper("")
    #expect(try await empty.get() == nil)
  }

  @Test func `is asked for again where that failed`() async throws {
    let (keeper, _) = keeper("a")
    _ = try await keeper.get()
    await #expect(throws: Failure.self) { try await keeper.renew("a") }
    #expect(try await keeper.get() == "a")
  }

  @Test(arguments: ["a b", "é", "a\r\nX: y"]) func `is no text that a header cannot carry`(
    text: String
  ) async {
    let (keeper, _) = keeper(text)
    let error = await #expect(throws: RemoteRecordsError.self) { try await keeper.get() }
    #expect(error?.description.contains(text) == false)
  }
}
