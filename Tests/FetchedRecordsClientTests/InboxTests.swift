import Testing

@testable import FetchedRecordsClient

@Suite struct `What waits for a slow reader` {
  private func results(_ version: Int) -> RemoteRecords<Int> {
    RemoteRecords(head: .init(version: "\(version)"))
  }

  private func changes(_ from: Int) -> News<Int> {
    .changes(
      .init(
        sectionChanges: [], recordChanges: [], old: results(from), new: results(from + 1),
        isReset: false))
  }

  /// All that waits: "from>to", with a star where all is to be read anew.
  private func waiting(_ inbox: Inbox<Int>) async -> [String] {
    inbox.finish()
    var words: [String] = []
    while let news = await inbox.next() {
      if case .changes(let changes) = news {
        words.append(
          "\(changes.old.version ?? "-")>\(changes.new.version ?? "-")\(changes.isReset ? "*" : "")"
        )
      } else {
        words.append("\(news)")
      }
    }
    return words
  }

  @Test func `is all of it, up to 64 change sets`() async {
    let inbox = Inbox<Int>()
    for version in 0..<64 { inbox.add(changes(version)) }
    #expect(await waiting(inbox) == (0..<64).map { "\($0)>\($0 + 1)" })
  }

  @Test func `is one reset where it would be more`() async {
    let inbox = Inbox<Int>()
    inbox.add(.state(.live))
    for version in 0..<200 { inbox.add(changes(version)) }
    let words = await waiting(inbox)
    #expect(words.first == "state(FetchedRecordsClient.RemoteRecordsState.live)")
    #expect(words.count <= 66)
    // Each goes on from where the one before has led to.
    let ends = words.dropFirst().map { $0.replacing("*", with: "").split(separator: ">") }
    #expect(ends.first?.first == "0" && ends.last?.last == "200")
    #expect(zip(ends, ends.dropFirst()).allSatisfy { $0[1] == $1[0] })
    #expect(words.contains { $0.hasSuffix("*") })
  }

  @Test func `comes to whoever waits already`() async {
    let inbox = Inbox<Int>()
    async let news = inbox.next()
    inbox.add(changes(1))
    guard case .changes(let changes)? = await news else {
      Issue.record("nothing has come")
      return
    }
    #expect(changes.new.version == "2")
  }

  @Test func `ends where the reader's task is cancelled`() async {
    let inbox = Inbox<Int>()
    let reader = Task { await inbox.next() == nil }
    reader.cancel()
    #expect(await reader.value)
  }
}
