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
    await withTaskGroup(of: News<Int>?.self) { readers in
      for _ in 0..<2 { readers.addTask { await inbox.next() } }
      // One is superseded when the other has begun to wait.
      guard case .some(nil) = await readers.next() else {
        Issue.record("something has come")
        return
      }
      inbox.add(changes(1))
      guard case .changes(let changes)?? = await readers.next() else {
        Issue.record("nothing has come")
        return
      }
      #expect(changes.new.version == "2")
    }
  }

  @Test func `ends where the reader's task is cancelled`() async {
    let inbox = Inbox<Int>()
    let reader = Task { await inbox.next() == nil }
    reader.cancel()
    #expect(await reader.value)
  }
}

@Suite struct `What is wrong` {
  private let audience = Audience<Int>()
  private let inbox: Inbox<Int>
  private let silent = RemoteRecordsError(.silent, "silent", "")
  private let failed = RemoteRecordsError(.failed, "failed", "")

  init() { inbox = audience.join() }

  /// What was told of trouble: its reason, or that it is over.
  private func troubles() async -> [RemoteRecordsError.Reason?] {
    audience.finish()
    var reasons: [RemoteRecordsError.Reason?] = []
    while let news = await inbox.next() {
      if case .trouble(let trouble) = news { reasons.append(trouble?.reason) }
    }
    return reasons
  }

  @Test func `is told once until it is over`() async {
    for _ in 0..<2 { audience.tell(.trouble(failed)) }
    for _ in 0..<2 { audience.tell(.trouble(nil)) }
    audience.tell(.trouble(failed))
    #expect(await troubles() == [.failed, nil, .failed])
  }

  @Test func `is over with a change set, and where it is live again`() async {
    audience.tell(.trouble(failed))
    audience.tell(.state(.live))
    audience.tell(.changes(.init(resetFrom: .init(), to: .init(head: .init(version: "1")))))
    audience.tell(.trouble(silent))
    // The state is none that was not told.
    audience.tell(.state(.live))
    #expect(await troubles() == [.failed, nil, .silent, nil])
  }

  @Test func `is over where something else is asked for, unless it is for good`() async {
    let refused = RemoteRecordsError(.refused, "refused", "")
    for problem in [refused, RemoteRecordsError(.forbidden, "forbidden", "")] {
      audience.tell(.trouble(problem))
      audience.tell(.end(problem))
      audience.reopen()
    }
    #expect(await troubles() == [.refused, nil, .forbidden])
  }
}
