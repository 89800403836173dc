import FetchedRecords
import OrderedResults
import Testing

@testable import RecordsAPI

@Suite struct `News of a member` {
  private let states: [ResultsSnapshot]
  private let failure = FetchFailure(kind: .busy, detail: "busy")

  init() throws {
    let first = try FeedFixture("CREATE TABLE t (a)").feed.head.snapshot
    states = (0..<4).map { number in
      ResultsSnapshot(
        query: first.query, results: first.results, number: number, commit: number,
        alongside: [])
    }
  }

  private func news(_ events: LiveResultEvent...) -> MemberNews {
    var news = MemberNews()
    for event in events { news.append(event) }
    return news
  }

  private func change(to number: Int) -> LiveResultEvent {
    .changed(ChangeSet(), from: states[number - 1], to: states[number])
  }

  @Test func `of one change is that change`() {
    for news in [
      news(change(to: 1)), news(.failed(failure), change(to: 1)),
      news(change(to: 1), .failed(failure), .recovered),
    ] {
      #expect(news.changes != nil)
      #expect(news.latest?.commit == 1)
      #expect(news.failure == nil)
    }
  }

  @Test func `of several is the last state alone`() {
    for news in [
      news(change(to: 1), change(to: 2)), news(change(to: 1), .failed(failure), change(to: 2)),
      news(.reset(states[1]), change(to: 2)), news(change(to: 1), .reset(states[2])),
    ] {
      #expect(news.changes == nil)
      #expect(news.latest?.commit == 2)
    }
  }

  @Test func `ends as the member does`() {
    #expect(news(change(to: 1), .failed(failure)).failure == failure)
    #expect(news(change(to: 1), .failed(failure)).latest?.commit == 1)
    #expect(news(.failed(failure)).latest == nil)
    #expect(news(.failed(failure), .recovered).failure == nil)
  }
}
