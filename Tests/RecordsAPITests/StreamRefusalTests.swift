import FetchedRecords
import HTTP1
import HTTPServer
import HTTPTypes
import Testing

@testable import RecordsAPI

/// What answers a request for a stream that cannot be had.
@Suite struct `A stream that is refused` {
  private func response(to failure: FetchFailure, accepting types: String) throws -> Response {
    var parser = RequestHeadParser(limits: MessageLimits())
    let bytes = Array(
      "GET /v1/queries/q/events HTTP/1.1\r\nHost: h\r\nAccept: \(types)\r\n\r\n".utf8)
    var offset = 0
    let head = try #require(try parser.parse(bytes.span, from: &offset))
    return RecordsService.responseToStream(Request(head: head), Problem(failure))
  }

  /// It comes back to a stream that ends, and to nothing else.
  @Test func `because of a reload lets an EventSource come back`() throws {
    let response = try response(to: .replaced, accepting: "text/event-stream")
    #expect(response.status == .ok)
    #expect(response.fields[.contentType] == "text/event-stream")
    guard case .bytes(let body) = response.body else { return #expect(Bool(false)) }
    #expect(String(decoding: body, as: UTF8.self).hasPrefix("retry: "))
    let other = try self.response(to: .replaced, accepting: "application/x-ndjson")
    #expect(other.status == .serviceUnavailable)
    #expect(other.fields[.retryAfter] == "1")
  }

  @Test func `for another reason says so`() throws {
    let failure = FetchFailure(kind: .busy, detail: "a writer holds the lock")
    let response = try response(to: failure, accepting: "text/event-stream")
    #expect(response.status == .serviceUnavailable)
  }
}
