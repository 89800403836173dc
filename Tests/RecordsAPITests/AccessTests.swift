import FetchedRecords
import Foundation
import HTTP1
import HTTPTypes
import Testing

@testable import HTTPServer
@testable import RecordsAPI

@Suite struct `What a client accepts` {
  @Test(arguments: [
    (nil, true), ("", true), ("*/*", true), ("application/json", true),
    ("text/html, application/json", true), ("text/html,*/*;q=0.8", true), ("application/*", true),
    ("text/html", false), ("text/*", false), ("application/json;q=0", false),
    ("*/*, application/json;q=0", false), ("application/*;q=0, */*", false),
    ("application/*;q=0, application/json", true), ("Application/JSON", true),
    ("application/json ; q=0.000", false), ("application/json;version=1", true),
    ("nonsense", true), (",,", true), ("text/event-stream", false),
  ])
  func `decides whether JSON is welcome`(field: String?, isWelcome: Bool) {
    #expect(MediaRanges(field).accept("application/json") == isWelcome)
  }
}

@Suite struct `An access log` {
  private let exchange = FinishedExchange(
    request: RequestSummary(
      method: .get, target: "/v1/queries?access_token=secret&a=%22", version: .http11,
      client: "192.0.2.1", scheme: "https", referer: nil, userAgent: "a\"b\\c\u{1B}[2J\nd é"),
    client: "192.0.2.1", status: 200, bytes: 12, duration: .microseconds(1_000_250),
    isComplete: true, route: nil)

  private func text(_ format: String) throws -> String {
    try AccessLogFormat(format)
      .text(of: exchange, at: Date(timeIntervalSince1970: 0))
  }

  @Test func `is a line of words`() throws {
    #expect(
      try text("line") == """
        1970-01-01T00:00:00.000Z 192.0.2.1 "GET /v1/queries?access_token=...&a=%22 HTTP/1.1" \
        200 12 1.000250 "a\\x22b\\x5cc\\x1b[2J\\x0ad \\xc3\\xa9" -
        """)
    #expect(try text("{status}{bytes} {route} {referer}!") == "20012 - -!")
  }

  /// None of these can be told from what the server itself wrote.
  @Test(arguments: [
    ("{agent} {status}", "x 200", "x\\x20200 200"), ("{agent} {status}", "", "- 200"),
    ("{status};{agent}", "x;200", "200;x\\x3b200"),
    ("[{agent}] {status}", "x] 404", "[x\\x5d\\x20404] 200"),
    ("agent={agent} status={status}", "x status=404", "agent=x\\x20status=404 status=200"),
    ("'{agent}' {bytes}", "x' 1", "'x\\x27\\x201' 12"),
    ("{agent}, {status}", "x, 1", "x\\x2c\\x201, 200"),
    ("\"{agent}\" {status}", "x y", "\"x y\" 200"), ("\"{agent}\" {status}", "", "\"\" 200"),
    ("{seconds}\t{agent}", "x\t1", "1.000250\tx\\x091"),
    ("{status}: {agent}", "a-b/1.0", "200: a-b/1.0"),
  ])
  func `lets no client write a field of its own`(format: String, agent: String, line: String) throws
  {
    var exchange = exchange
    exchange.request?.userAgent = agent
    #expect(try AccessLogFormat(format).text(of: exchange, at: .now) == line)
  }

  @Test(arguments: [
    ("/v1/queries?access_token=s&a=1", "/v1/queries?access_token=...&a=1"),
    ("/a?access%5Ftoken=s", "/a?access%5Ftoken=..."),
    ("/a?b=1&%61ccess_%74oken=s%zz&access_token", "/a?b=1&%61ccess_%74oken=...&access_token"),
    ("/v1/events?query=a%3Faccess_token%3Ds&query=b", "/v1/events?query=...&query=b"),
    ("/v1/events?query=a%3Faccess%255Ftoken%3Ds", "/v1/events?query=..."),
    ("https://a.example/?x#y&access_token=s", "https://a.example/?x#y&access_token=..."),
    ("/a?access_tokens=1&c=%2", "/a?access_tokens=1&c=%2"), ("/a=b?=&&?", "/a=b?=&&?"), ("", "-"),
  ])
  func `tells no token`(url: String, shown: String) throws {
    var exchange = exchange
    exchange.request?.target = url
    exchange.request?.referer = url
    let line = try AccessLogFormat("{target} {referer}")
    #expect(line.text(of: exchange, at: .now) == "\(shown) \(shown)")
  }

  @Test func `is JSON`() throws {
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(try text("json").utf8)) as? [String: Any])
    #expect(json["status"] as? Int == 200)
    #expect(json["seconds"] as? Double == 1.00025)
    #expect(json["agent"] as? String == exchange.request?.userAgent)
    #expect(json["target"] as? String == "/v1/queries?access_token=...&a=%22")
    #expect(json["referer"] == nil)
    #expect(try !text("json").contains("\n"))
  }

  @Test(arguments: [
    ("{stats}", "did you mean {status}?"), ("{xyz}", "the words are time, client"),
    ("hello", "write json, line"), ("{status", nil), ("", "write json, line"),
  ])
  func `is refused where it says nothing`(format: String, mend: String?) {
    do {
      _ = try AccessLogFormat(format)
      #expect(mend == nil)
    } catch {
      #expect(error.mend.contains(mend ?? "?"), "\(error)")
    }
  }
}

@Suite struct `The treatment of clients` {
  private func parse(_ yaml: String) throws -> Configuration {
    try Configuration.parse(yaml, file: "c")
  }

  @Test func `is configured`() throws {
    let configuration = try parse(
      """
      limits: {headSize: 2048, connections: 10, connectionsPerAddress: 5, requestsInFlight: 2,
        controllers: 7, logBytes: 1000, logChangeSets: 4, rememberedStates: 0, bodySize: 0,
        memory: 1000000000, streamsPerAddress: 8, queriesPerAddress: 9,
        streamsPerCaller: 10, queriesPerCaller: 11}
      timeouts: {head: 5, body: 500ms, write: 1.5, idle: 2m, heartbeat: 3s, linger: 1h}
      cors: [https://a.example, "http://localhost:8000"]
      proxies: [127.0.0.1, 10.0.0.0/8, unix]
      hosts: [Example.org, "localhost:8080", "[::1]"]
      accessLog: "{client} {status}"
      listen: unix:/run/didchange.sock
      caches: {streams: 1m}
      """)
    let service = configuration.service
    #expect(service.server.messageLimits.headSize == 2048)
    #expect(service.server.messageLimits.bodySize == 0)
    #expect(service.server.maximumConnections == 10)
    #expect(service.server.maximumConnectionsPerAddress == 5)
    #expect(service.server.maximumPipelinedRequests == 2)
    #expect(service.server.timeouts.head == .seconds(5))
    #expect(service.server.timeouts.body == .milliseconds(500))
    #expect(service.server.timeouts.write == .milliseconds(1500))
    #expect(service.server.timeouts.idle == .seconds(120))
    #expect(service.crossOrigin == .origins(["https://a.example", "http://localhost:8000"]))
    #expect(service.server.trustedProxies.count == 3)
    #expect(service.hosts == HostNames(["example.org", "localhost:8080", "[::1]"]))
    #expect(service.accessLog != nil)
    #expect(configuration.feeds.heartbeat == .seconds(3))
    #expect(configuration.feeds.linger == .seconds(3600))
    #expect(configuration.feeds.maximumOfControllers == 7)
    #expect(configuration.feeds.streamsPerAddress == 8)
    #expect(configuration.feeds.queriesPerAddress == 9)
    #expect(configuration.feeds.streamsPerCaller == 10)
    #expect(configuration.feeds.queriesPerCaller == 11)
    #expect(configuration.queryLimits.memory == 1_000_000_000)
    #expect(configuration.queryLimits.resultBytes == 250_000_000)
    #expect(configuration.feeds.logCapacity == 1000)
    #expect(configuration.feeds.logCount == 4)
    #expect(configuration.feeds.rememberedStates == 0)
    #expect(configuration.listen?.socketPath == "/run/didchange.sock")
    #expect(configuration.listen?.url == "unix:/run/didchange.sock")
    #expect(configuration.feeds.sharedStreams == .seconds(60))
    #expect(try parse("limits: {memory: 256MiB}").queryLimits.memory == 268_435_456)
    #expect(try parse("limits: {memory: 1.5 GB}").queryLimits.memory == 1_500_000_000)
    #expect(try parse("limits: {logBytes: 64kB}").feeds.logCapacity == 64_000)
    #expect(try parse("limits: {}").feeds.sharedStreams == nil)
    #expect(try parse("caches: {streams: 3}").feeds.sharedStreams == .seconds(3))
    #expect(try parse("cors: '*'").service.crossOrigin == .everyone)
  }

  @Test(arguments: [
    (
      "limits: {headSize: 1}",
      "c:1:20: `headSize` is the number 1, not a number of bytes that makes sense"
    ),
    ("limits: {memory: 256Mb}", "or with a unit, as 256MiB"),
    ("limits: {memory: 4iB}", "`memory` is text, not a number of bytes"),
    ("limits: {memory: 99999999TiB}", "write one from 16777216 to 1099511627776"),
    ("limits: {connections: 1kB}", "not an integer that makes sense"),
    ("limits: {memory: 16777215}", "write one from 16777216 to 1099511627776"),
    ("limits: {streamsPerAddress: 0}", "write one from 1 to 10000000"),
    ("limits: {queriesPerAddress: 0}", "write one from 1 to 10000000"),
    ("limits: {conections: 1}", "did you mean \"connections\"?"),
    ("limits: {connections: many}", "`connections` is text"),
    (
      "caches: {streams: 2s}",
      "c:1:19: `streams` is no time that makes sense; write 10s, 500ms or 2m, from 3s to 3600s"
    ),
    ("caches: {streams: 61m}", "from 3s to 3600s"), ("caches: 60s", "`caches` is text, not a map"),
    ("caches: {events: 60s}", "did you mean \"streams\"?"), ("cdn: {}", "did you mean \"caches\"?"),
    ("timeouts: {heartbeat: 20s}", "from 0.1s to 15s"), ("timeouts: {head: 5 days}", "write 10s"),
    ("timeouts: {head: -1}", "write 10s"), ("timeouts: {head: .nan}", "write 10s"),
    ("cors: [a.example]", "\"a.example\" is no origin"),
    ("cors: [https://a.example/]", "is no origin"),
    ("cors: [https://A.example]", "write https://a.example"),
    ("cors: [https://a.example:443]", "leave out :443"), ("cors: https://a.example", "not a list"),
    ("hosts: [https://example.org/a]", "write example.org"),
    ("hosts: ['*.example.org']", "is no host"),
    ("hosts: ['a:b']", "\"a:b\" is no host"), ("hosts: [a/b]", "is no host"),
    ("hosts: []", "`hosts` is empty"), ("hosts: localhost", "write [localhost]"),
    ("allowedHosts: [a]", "did you mean \"hosts\"?"),
    ("proxies: [10.0.0.0/99]", "\"10.0.0.0/99\" is no address"),
    ("accessLog: '{clint}'", "did you mean {client}?"), ("listen: 'unix:'", "has 0 bytes"),
  ])
  func `is refused with its place`(yaml: String, part: String) {
    #expect {
      try parse(yaml)
    } throws: { error in
      "\(error)".hasPrefix("c:1:") && "\(error)".contains(part)
    }
  }
}
