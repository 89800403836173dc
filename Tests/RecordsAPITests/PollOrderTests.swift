import FetchedRecords
import HTTP1
import HTTPServer
import Testing

@testable import RecordsAPI

@Suite struct `A poll that starts over` {
  /// What its caller may see may be something else before it has begun to wait.
  @Test(arguments: [false, true])
  func `is held by nothing, whichever comes first`(beginsFirst: Bool) throws {
    let fixture = try FeedFixture("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let times = PollTimes()
    let head = Array("GET /?wait=60 HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    var parser = RequestHeadParser(limits: MessageLimits())
    var offset = 0
    let request = Request(head: try #require(try parser.parse(head.span, from: &offset)))
    weak var held: Poll?
    var again = 0
    do {
      let poll = Poll(
        StreamLease(fixture.feed, Share {}, fixture.registry),
        StreamOpening(
          lastEventID: fixture.feed.head.snapshot.version.description, wantsSnapshot: false),
        try PollTerms(QueryItems(request.query)), until: PollTimes.tick(after: 60),
        Responder { _ in }, times)
      held = poll
      if beginsFirst { poll.begin() }
      #expect((times.count > 0) == beginsFirst)
      poll.startOver { again += 1 }
      if !beginsFirst { poll.begin() }
    }
    #expect(again == 1)
    #expect(times.count == 0)
    #expect(held == nil)
  }
}
