/// How long a stream may be silent until it is known to be dead: two heartbeats.
struct Pulse: Sendable {
  /// The longest between two heartbeats (`protocol.md` §4).
  private static let longest: Duration = .seconds(15)
  /// What the way may add.
  private static let slack: Duration = .seconds(2)

  private var interval = longest
  private var last: ContinuousClock.Instant?
  /// Between heartbeats with nothing between them: the server is silent for as long as it may be.
  private var gaps: [Duration] = []

  var silence: Duration { interval * 2 + Self.slack }

  /// An event has come.
  mutating func heard(_ event: String, at now: ContinuousClock.Instant) {
    let isBeat = event == "heartbeat"
    if isBeat, let last { gaps = gaps.suffix(2) + [now - last] }
    last = isBeat ? now : nil
    // Where the way held one back, the next comes too soon: the longest of three is theirs.
    if gaps.count == 3, let longest = gaps.max() { interval = min(Self.longest, longest) }
  }
}
