import FetchedRecords
import HTTP1
import HTTPServer
import HTTPTypes
import Testing

@testable import RecordsAPI

@Suite struct `Answers that are kept` {
  private let pages = PageCache()
  private let feed: Feed

  init() throws {
    feed = Feed(
      key: FeedKey(query: "t", arguments: [:]), controller: try .ofEmptyTable(),
      settings: FeedSettings(), counters: FeedCounters(), states: RememberedStates())
  }

  private var version: ResultsVersion { feed.head.snapshot.version }

  private func request(_ target: String) throws -> Request {
    let bytes = Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    var parser = RequestHeadParser(limits: MessageLimits())
    var offset = 0
    return Request(head: try #require(try parser.parse(bytes.span, from: &offset)))
  }

  @Test func `are given as long as the version is the same`() throws {
    #expect(pages.response(to: try request("/a")) == nil)
    let made = pages.remember([1, 2], of: feed, version: version, for: try request("/a"))
    #expect(made.status == .ok)
    let kept = try #require(pages.response(to: try request("/a")))
    guard case .bytes([1, 2]) = kept.body else {
      Issue.record("\(kept.body)")
      return
    }
    #expect(kept.fields[.eTag] == "\"\(version.state)\"")
    #expect(pages.response(to: try request("/b")) == nil)
    _ = pages.remember(
      [3], of: feed, version: ResultsVersion(state: "older", number: 1), for: try request("/b"))
    #expect(pages.response(to: try request("/b")) == nil)
  }

  @Test func `are let go with their feed, and when it cannot be read`() throws {
    var sleepers = Sleepers()
    _ = pages.remember([1], of: feed, version: version, for: try request("/a"))
    // What could be read last is given as long as nothing more can be known.
    feed.receive(.failed(FetchFailure(kind: .busy, detail: "locked")), &sleepers)
    #expect(pages.response(to: try request("/a")) != nil)
    feed.receive(.failed(FetchFailure(kind: .unavailable, detail: "gone")), &sleepers)
    #expect(pages.response(to: try request("/a")) == nil)
    feed.receive(.recovered, &sleepers)
    _ = pages.remember([1], of: feed, version: version, for: try request("/a"))
    #expect(pages.response(to: try request("/a")) != nil)
    #expect(feed.wasRead())
    #expect(!feed.wasRead())
    feed.close()
    pages.sweep()
    #expect(pages.size == 0)
    #expect(pages.response(to: try request("/a")) == nil)
  }

  @Test func `hold no more than they may`() throws {
    let body = [UInt8](repeating: 0, count: 200_000)
    for number in 0..<300 {
      _ = pages.remember(body, of: feed, version: version, for: try request("/\(number)"))
      _ = pages.remember(body, of: feed, version: version, for: try request("/same"))
      #expect(pages.size <= PageCache.capacity)
    }
    let huge = [UInt8](repeating: 0, count: 1 << 20)
    let size = pages.size
    #expect(pages.remember(huge, of: feed, version: version, for: try request("/h")).status == .ok)
    #expect(pages.size == size)
  }
}
