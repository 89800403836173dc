/// What was measured of one ``CallersServer``.
struct CallersFigures {
  /// Streams that were open.
  let streams: Int
  var openedPerSecond = 0.0
  /// The server's own time for each stream, in microseconds.
  var cpuOfOpening = 0.0
  /// Of the server with all its streams, in KiB.
  var memory = 0.0
  /// Milliseconds, by turns.
  var commits: [[Double]] = []
  var signOuts: [[Double]] = []
  /// The server's own time for all commits, in milliseconds.
  var cpuOfCommits = 0.0

  var p50: Double { commits.percentile(50) }

  var cpuOfCommit: Double { cpuOfCommits / Double(commits.joined().count) }

  /// KiB that each stream takes beyond those of a server with a few.
  func memory(above few: CallersFigures) -> Double {
    (memory - few.memory) / Double(streams - few.streams)
  }

  /// The median of the quotients of the medians of turns: what else the machine did met both.
  static func ratio(_ turns: [[Double]], _ others: [[Double]]) -> Double {
    zip(turns, others).map { ($0.median ?? 0) / ($1.median ?? 1) }.median ?? 0
  }
}

extension [[Double]] {
  /// Of all together.
  func percentile(_ percent: Int) -> Double {
    let all = joined().sorted()
    return all.isEmpty ? 0 : all[all.count * percent / 100]
  }
}
