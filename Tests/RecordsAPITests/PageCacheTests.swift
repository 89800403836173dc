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

  private func remember(
    _ body: [UInt8], _ version: ResultsVersion? = nil, at path: String
  ) throws {
    let version = version ?? self.version
    pages.remember(
      Response(json: body, version: version), of: feed, version: version, for: try request(path))
  }

  @Test func `are given as long as the version is the same`() throws {
    #expect(pages.response(to: try request("/a")) == nil)
    try remember([1, 2], at: "/a")
    let kept = try #require(pages.response(to: try request("/a")))
    guard case .bytes([1, 2]) = kept.body else {
      Issue.record("\(kept.body)")
      return
    }
    #expect(kept.fields[.eTag] == "\"\(version.state)\"")
    #expect(pages.response(to: try request("/b")) == nil)
    try remember([3], ResultsVersion(state: "older", number: 1), at: "/b")
    #expect(pages.response(to: try request("/b")) == nil)
  }

  @Test func `are let go with their feed, and when it cannot be read`() throws {
    var sleepers = Sleepers()
    try remember([1], at: "/a")
    // What could be read last is given as long as nothing more can be known.
    feed.receive(.failed(FetchFailure(kind: .busy, detail: "locked")), &sleepers)
    #expect(pages.response(to: try request("/a")) != nil)
    feed.receive(.failed(FetchFailure(kind: .unavailable, detail: "gone")), &sleepers)
    #expect(pages.response(to: try request("/a")) == nil)
    feed.receive(.recovered, &sleepers)
    try remember([1], at: "/a")
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
      try remember(body, at: "/\(number)")
      try remember(body, at: "/same")
      #expect(pages.size <= PageCache.capacity)
    }
    let huge = [UInt8](repeating: 0, count: 1 << 20)
    let size = pages.size
    try remember(huge, at: "/h")
    #expect(pages.size == size)
  }
}
