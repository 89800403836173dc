import FetchedRecords
import HTTP1
import HTTPServer

/// The words of `limits`.
package enum LimitWord: String, ConfigurationWord {
  case targetLength, headSize, headerCount, bodySize, connections, connectionsPerAddress
  case requestsInFlight, controllers, logBytes, logChangeSets, rememberedStates, rememberedBytes
  case readers, resultRows, resultBytes, memory, streamsPerAddress, queriesPerAddress
  case streamsPerCaller, queriesPerCaller, memoryPerCaller

  package static let owner = "`limits`"
  package static let synonyms: [String: LimitWord] = [
    "url": .targetLength, "uri": .targetLength, "headers": .headerCount, "fields": .headerCount,
    "body": .bodySize, "maxconnections": .connections, "perip": .connectionsPerAddress,
    "pipelined": .requestsInFlight, "queries": .controllers, "rows": .resultRows,
    "records": .resultRows, "threads": .readers, "ram": .memory, "bytes": .memory,
    "budget": .memory, "streams": .streamsPerAddress,
  ]

  /// Whether it is a number of bytes, which may be written with a unit.
  var isOfBytes: Bool {
    switch self {
    case .targetLength, .headSize, .bodySize, .logBytes, .rememberedBytes, .resultBytes, .memory,
      .memoryPerCaller:
      true
    default: false
    }
  }

  /// Where a value goes, and what it may be: less would not let the server's own page in, more is
  /// surely a slip.
  var setting: (path: WritableKeyPath<Configuration, Int>, range: ClosedRange<Int>) {
    switch self {
    case .targetLength: (\.service.server.messageLimits.targetLength, 256...1_048_576)
    case .headSize: (\.service.server.messageLimits.headSize, 1024...16_777_216)
    case .headerCount: (\.service.server.messageLimits.fieldCount, 16...10_000)
    case .bodySize: (\.service.server.messageLimits.bodySize, 0...1_073_741_824)
    case .connections: (\.service.server.maximumConnections, 1...10_000_000)
    case .connectionsPerAddress: (\.service.server.maximumConnectionsPerAddress, 1...10_000_000)
    case .requestsInFlight: (\.service.server.maximumPipelinedRequests, 1...10_000)
    case .controllers: (\.feeds.maximumOfControllers, 1...10_000_000)
    case .logBytes: (\.feeds.logCapacity, 0...1_099_511_627_776)
    case .logChangeSets: (\.feeds.logCount, 0...10_000_000)
    case .rememberedStates: (\.feeds.rememberedStates, 0...10_000_000)
    case .rememberedBytes: (\.feeds.rememberedBytes, 0...1_099_511_627_776)
    case .readers: (\.queryLimits.readers, 1...64)
    case .resultRows: (\.queryLimits.resultRows, 1...10_000_000_000)
    case .resultBytes: (\.queryLimits.resultBytes, 65_536...1_099_511_627_776)
    case .memory: (\.queryLimits.memory, 16_777_216...1_099_511_627_776)
    case .streamsPerAddress: (\.feeds.streamsPerAddress, 1...10_000_000)
    case .queriesPerAddress: (\.feeds.queriesPerAddress, 1...10_000_000)
    case .streamsPerCaller: (\.feeds.streamsPerCaller, 1...10_000_000)
    case .queriesPerCaller: (\.feeds.queriesPerCaller, 1...10_000_000)
    case .memoryPerCaller: (\.memoryPerCaller, 65_536...1_099_511_627_776)
    }
  }
}

/// The words of `caches`: what HTTP caches may share among their clients.
package enum CacheWord: String, ConfigurationWord {
  case streams

  package static let owner = "`caches`"
  package static let synonyms: [String: CacheWord] = [
    "events": .streams, "maxage": .streams, "ttl": .streams, "rotation": .streams,
    "stream": .streams,
  ]

  /// Where a value goes, and what it may be, in seconds.
  var setting: (path: WritableKeyPath<Configuration, Duration?>, range: ClosedRange<Double>) {
    switch self {
    // A stream is fresh for a second less than it lives; most caches give up on an answer that takes
    // longer than an hour.
    case .streams: (\.feeds.sharedStreams, 3...3600)
    }
  }
}

/// The words of `timeouts`.
package enum TimeoutWord: String, ConfigurationWord {
  case head, body, idle, write, close, heartbeat, linger, statement

  package static let owner = "`timeouts`"
  package static let synonyms: [String: TimeoutWord] = [
    "header": .head, "request": .head, "keepalive": .idle, "send": .write, "reader": .write,
    "ping": .heartbeat, "controllers": .linger, "query": .statement, "sql": .statement,
  ]

  /// Where a value goes, and what it may be, in seconds.
  var setting: (path: WritableKeyPath<Configuration, Duration>, range: ClosedRange<Double>) {
    switch self {
    case .head: (\.service.server.timeouts.head, 0.1...86_400)
    case .body: (\.service.server.timeouts.body, 0.1...86_400)
    case .idle: (\.service.server.timeouts.idle, 0.1...86_400)
    case .write: (\.service.server.timeouts.write, 0.1...86_400)
    case .close: (\.service.server.timeouts.linger, 0.1...86_400)
    // protocol.md §4 promises a heartbeat at least every 15 s.
    case .heartbeat: (\.feeds.heartbeat, 0.1...15)
    case .linger: (\.feeds.linger, 0...86_400)
    case .statement: (\.queryLimits.statement, 0.1...86_400)
    }
  }
}
