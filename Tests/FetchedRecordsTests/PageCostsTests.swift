import OrderedResults
import Testing

@testable import FetchedRecords

@Suite struct `The pages of a result that is not live` {
  private let key = PageCosts.Key(query: "items", arguments: ["n": .integer(1)])
  private let version = ResultsVersion(state: "p-3", number: 3)
  private let found = PageTask.Found(count: 100_000)
  private let start = ContinuousClock.now

  @Test func `are dear when they have cost as much as the whole result would`() {
    var costs = PageCosts()
    func note(at seconds: Int) -> Bool {
      costs.note(
        found, at: version, of: key, took: .milliseconds(60), now: start + .seconds(seconds))
    }
    // To hold so many records costs 200 ms.
    #expect((0..<4).map { note(at: $0) } == [false, false, false, true])
    // Then they begin anew, and so they do after a while.
    #expect((4..<7).map { note(at: $0) } == [false, false, false])
    #expect(!note(at: 60))
  }

  @Test func `are counted once for each version`() {
    var costs = PageCosts()
    #expect(costs.count(key, at: version) == nil)
    _ = costs.note(found, at: version, of: key, took: .zero)
    #expect(costs.count(key, at: version) == 100_000)
    #expect(costs.count(key, at: ResultsVersion(state: "p-4", number: 4)) == nil)
    #expect(costs.count(PageCosts.Key(query: "items", arguments: [:]), at: version) == nil)
  }

  @Test func `are forgotten rather than remembered without end`() {
    var costs = PageCosts()
    for number in 0..<10_000 {
      let key = PageCosts.Key(query: "items", arguments: ["n": .integer(Int64(number))])
      _ = costs.note(found, at: version, of: key, took: .zero)
      #expect(costs.size <= 4096)
    }
  }
}
