import Foundation
import Testing

@testable import FetchedRecordsClient

@Suite struct `What is asked for` {
  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  @Test func `is an address with parameters, an order and a window`() throws {
    var request = try RemoteRequest(
      url("https://example.org/live/v1/queries/players?country=FR&order=best"))
    #expect(request.base.absoluteString == "https://example.org/live/v1/")
    #expect(request.query == "players" && request.order == "best")
    #expect(request.parameters == ["country": "FR"])
    request.parameters["name"] = "a&b=c+d é"
    request.window = 20..<50
    #expect(
      request.address("events", [("heartbeat", "event")]).absoluteString
        == "https://example.org/live/v1/queries/players/events?country=FR"
        + "&name=a%26b%3Dc%2Bd%20%C3%A9&order=best&offset=20&limit=30&heartbeat=event")
  }

  @Test func `keeps what is no part of a query's name`() throws {
    let request = try RemoteRequest(url("http://[::1]:8080/v1/queries/a%2Fb/#x"))
    #expect(request.query == "a/b")
    #expect(
      request.address("records/7").absoluteString == "http://[::1]:8080/v1/queries/a%2Fb/records/7")
  }

  @Test(arguments: [
    "http://example.org/", "http://example.org/v1/queries",
    "http://example.org/v1/queries/a/events",
    "ftp://example.org/v1/queries/a", "v1/queries/a", "http:",
  ])
  func `is refused where it is no query`(text: String) throws {
    let url = try url(text)
    let error = #expect(throws: RemoteRecordsError.self) { try RemoteRequest(url) }
    #expect(error?.reason == .address && error?.description.contains(text) == true)
  }

  @Test func `has values as URLs have them`() {
    let values: [any RemoteParameter] = ["FR", 7, Int64.max, 1.5, true, Data([255]), Optional(3)]
    #expect(values.map(\.queryText) == ["FR", "7", "9223372036854775807", "1.5", "1", "/w==", "3"])
    #expect(Optional<String>.none.queryText == nil)
  }
}

@Suite struct `The events of a stream` {
  private let begin = RawJSON(#"{"from":"a.1","version":"b.2","numberOfChanges":1}"#)
  private let change = RawJSON(#"{"type":"deletion","indexPath":[0,0]}"#)
  private let end = RawJSON(#"{"from":"a.1","version":"b.2","numberOfRecords":0}"#)

  @Test func `make a change set when it is whole`() throws {
    var assembly = ChangeSetAssembly()
    let parts = [try assembly.receive("willChange", begin), try assembly.receive("change", change)]
    #expect(parts.allSatisfy { $0 == nil })
    guard case .changeSet(let changes) = try assembly.receive("didChange", end) else {
      Issue.record("no change set")
      return
    }
    #expect(changes.from == "a.1" && changes.changes.map(\.event) == ["change"])
  }

  @Test func `are void where the stream breaks off`() throws {
    var assembly = ChangeSetAssembly()
    _ = try assembly.receive("willChange", begin)
    assembly.interrupt()
    #expect(throws: ChangeSetError.self) { try assembly.receive("didChange", end) }
  }

  @Test func `are void where their ends do not fit together`() throws {
    var assembly = ChangeSetAssembly()
    _ = try assembly.receive("willChange", begin)
    let other = RawJSON(#"{"from":"a.1","version":"c.3"}"#)
    #expect(throws: ChangeSetError.self) { try assembly.receive("didChange", other) }
    _ = try assembly.receive("change", change)
    let unknown = try assembly.receive("news", change)
    #expect(unknown == nil)
  }

  @Test(arguments: [(503, RemoteRecordsError.Reason.failed), (401, .signedOut), (403, .forbidden)])
  func `say what is wrong`(status: Int, reason: RemoteRecordsError.Reason) throws {
    var assembly = ChangeSetAssembly()
    let data = RawJSON(
      #"{"query":"q","status":\#(status),"title":"Busy","detail":"wait \"a\" bit"}"#)
    guard case .failure(let error) = try assembly.receive("fetchError", data) else {
      Issue.record("no failure")
      return
    }
    #expect(error.reason == reason && error.status == status)
    #expect(error.description == "Busy: wait \"a\" bit")
  }
}
