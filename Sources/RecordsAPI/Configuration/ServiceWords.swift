/// The words of `limits`.
package enum LimitWord: String, ConfigurationWord {
  case targetLength, headSize, headerCount, bodySize, connections, connectionsPerAddress
  case requestsInFlight, controllers, logBytes, logChangeSets, rememberedStates, rememberedBytes
  case readers, resultRows, resultBytes, memory, streamsPerAddress, queriesPerAddress

  package static let owner = "`limits`"
  package static let synonyms: [String: LimitWord] = [
    "url": .targetLength, "uri": .targetLength, "headers": .headerCount, "fields": .headerCount,
    "body": .bodySize, "maxconnections": .connections, "perip": .connectionsPerAddress,
    "pipelined": .requestsInFlight, "queries": .controllers, "rows": .resultRows,
    "records": .resultRows, "threads": .readers, "ram": .memory, "bytes": .memory,
    "budget": .memory, "streams": .streamsPerAddress,
  ]

  /// What a value may be: less would not let the server's own page in, more is surely a slip.
  var range: ClosedRange<Int> {
    switch self {
    case .targetLength: 256...1_048_576
    case .headSize: 1024...16_777_216
    case .headerCount: 16...10_000
    case .bodySize: 0...1_073_741_824
    case .connections, .connectionsPerAddress: 1...10_000_000
    case .streamsPerAddress, .queriesPerAddress: 1...10_000_000
    case .requestsInFlight: 1...10_000
    case .controllers: 1...10_000_000
    case .logBytes, .rememberedBytes: 0...1_099_511_627_776
    case .logChangeSets, .rememberedStates: 0...10_000_000
    case .readers: 1...64
    case .resultRows: 1...10_000_000_000
    case .resultBytes: 65_536...1_099_511_627_776
    case .memory: 16_777_216...1_099_511_627_776
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

  /// In seconds.
  var range: ClosedRange<Double> {
    switch self {
    // protocol.md §4 promises a heartbeat at least every 15 s.
    case .heartbeat: 0.1...15
    case .linger: 0...86_400
    default: 0.1...86_400
    }
  }
}
