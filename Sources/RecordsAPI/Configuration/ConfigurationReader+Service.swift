import FetchedRecords
import Foundation
import HTTP1
import HTTPServer
import Yams

// How the server treats its clients: limits, time-outs, hosts, other origins, proxies, the access log.
extension ConfigurationReader {
  mutating func readLimits(_ node: Node) {
    for (word, value) in read(node, as: LimitWord.self, what: "`limits`") ?? [] {
      guard let number = integer(value, "`\(word.rawValue)`", in: word.range) else { continue }
      let path = word.path
      switch path {
      case .service(let path): configuration.service[keyPath: path] = number
      case .feeds(let path): configuration.feeds[keyPath: path] = number
      case .queries(let path): configuration.queryLimits[keyPath: path] = number
      }
    }
  }

  mutating func readTimeouts(_ node: Node) {
    for (word, value) in read(node, as: TimeoutWord.self, what: "`timeouts`") ?? [] {
      guard let duration = duration(value, "`\(word.rawValue)`", in: word.range) else { continue }
      switch word {
      case .head: configuration.service.server.timeouts.head = duration
      case .body: configuration.service.server.timeouts.body = duration
      case .idle: configuration.service.server.timeouts.idle = duration
      case .write: configuration.service.server.timeouts.write = duration
      case .close: configuration.service.server.timeouts.linger = duration
      case .heartbeat: configuration.feeds.heartbeat = duration
      case .linger: configuration.feeds.linger = duration
      case .statement: configuration.queryLimits.statement = duration
      }
    }
  }

  mutating func crossOrigin(_ node: Node) -> CrossOrigin? {
    if node.scalar?.string == "*" { return .everyone }
    guard let items = list(node, "`cors`") else { return nil }
    for item in items {
      if let problem = CrossOrigin.problem(item.text) {
        note(item.node.position, "`cors`: \(problem.message)", mend: problem.mend)
      }
    }
    return .origins(Set(items.map(\.text)))
  }

  mutating func hosts(_ node: Node) -> HostNames? {
    guard let items = list(node, "`hosts`") else { return nil }
    for item in items {
      if let problem = HostNames.problem(item.text) {
        note(item.node.position, "`hosts`: \(problem.message)", mend: problem.mend)
      }
    }
    return HostNames(items.map(\.text))
  }

  mutating func proxies(_ node: Node) -> [AddressRange] {
    (list(node, "`proxies`") ?? []).compactMap { item in
      if let range = AddressRange(item.text) { return range }
      note(
        item.node.position, "`proxies`: \"\(item.text)\" is no address",
        mend: "write for example 127.0.0.1, 10.0.0.0/8, ::1, or unix")
      return nil
    }
  }

  mutating func accessLog(_ node: Node) -> AccessLogFormat? {
    guard let text = text(node, "`accessLog`") else { return nil }
    switch AccessLogFormat.read(text) {
    case .success(let format): return format
    case .failure(let flaw):
      note(node.position, "`accessLog`: \(flaw.message)", mend: flaw.mend)
      return nil
    }
  }

  private mutating func integer(_ node: Node, _ what: String, in range: ClosedRange<Int>) -> Int? {
    if case .scalar(let scalar) = node, case .integer(let value) = YAMLScalar(scalar),
      range.contains(Int(value))
    {
      return Int(value)
    }
    note(
      node.position, "\(what) is \(node.kind), not an integer that makes sense",
      mend: "write one from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// A number of seconds, or a number with its unit: `10s`, `500ms`, `2m`, `1h`.
  private mutating func duration(
    _ node: Node, _ what: String, in range: ClosedRange<Double>
  ) -> Duration? {
    if let seconds = node.seconds, range.contains(seconds) { return .seconds(seconds) }
    note(
      node.position, "\(what) is no time that makes sense",
      mend: "write 10s, 500ms or 2m, from \(range.lowerBound.short)s to \(range.upperBound.short)s")
    return nil
  }
}

extension LimitWord {
  fileprivate enum Path {
    case service(WritableKeyPath<ServiceSettings, Int>)
    case feeds(WritableKeyPath<FeedSettings, Int>)
    case queries(WritableKeyPath<RefresherLimits, Int>)
  }

  fileprivate var path: Path {
    switch self {
    case .targetLength: .service(\.server.messageLimits.targetLength)
    case .headSize: .service(\.server.messageLimits.headSize)
    case .headerCount: .service(\.server.messageLimits.fieldCount)
    case .bodySize: .service(\.server.messageLimits.bodySize)
    case .connections: .service(\.server.maximumConnections)
    case .connectionsPerAddress: .service(\.server.maximumConnectionsPerAddress)
    case .requestsInFlight: .service(\.server.maximumPipelinedRequests)
    case .controllers: .feeds(\.maximumOfControllers)
    case .logBytes: .feeds(\.logCapacity)
    case .logChangeSets: .feeds(\.logCount)
    case .rememberedStates: .feeds(\.rememberedStates)
    case .rememberedBytes: .feeds(\.rememberedBytes)
    case .readers: .queries(\.readers)
    case .resultRows: .queries(\.resultRows)
    case .resultBytes: .queries(\.resultBytes)
    case .memory: .queries(\.memory)
    case .streamsPerAddress: .feeds(\.streamsPerAddress)
    case .queriesPerAddress: .feeds(\.queriesPerAddress)
    }
  }
}

extension Node {
  fileprivate var seconds: Double? {
    guard case .scalar(let scalar) = self else { return nil }
    switch YAMLScalar(scalar) {
    case .integer(let value): return Double(value)
    case .real(let value): return value
    case .text(let text):
      guard let match = text.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h)/) else { return nil }
      let units = ["ms": 0.001, "s": 1, "m": 60, "h": 3600]
      return Double(match.1).flatMap { number in units[String(match.2)].map { number * $0 } }
    case .null, .boolean, .hugeInteger: return nil
    }
  }
}

extension Double {
  fileprivate var short: String {
    self == rounded() ? String(Int(self)) : String(self)
  }
}
