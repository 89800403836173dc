/// How feeds live.
package struct FeedSettings: Sendable, Equatable {
  /// Bytes of events that a feed keeps for resuming streams.
  ///
  /// 1 MiB is some five thousand small change sets.
  package var logCapacity = 1 << 20

  /// Change sets that it keeps; whichever of the two bounds is reached first counts.
  package var logCount = 10_000

  /// Earlier results that a feed remembers, and as many again at which readers stopped: a stream
  /// that comes back to one of them is told the difference, whatever has left the log.
  package var rememberedStates = 64

  /// About the bytes that they may hold beyond the present result, for each of the two kinds.
  package var rememberedBytes = 1 << 20

  /// How long a feed stays up to date without a user, so that a reload finds it warm.
  package var linger = Duration.seconds(30)

  /// Feeds at the same time; one more takes the place of the one that nobody has used for longest,
  /// and is refused with 503 where all are in use. A client can make a feed for each value of a
  /// parameter, so there must be a bound.
  package var maximumOfControllers = 10_000

  /// How long a stream may be silent before it is sent a comment. `protocol.md` §4 promises 15 s.
  package var heartbeat = Duration.seconds(15)

  package init() {}
}
