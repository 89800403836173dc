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

  /// Feeds without a user that stay up to date though each commit to their tables costs something for
  /// each of them, since no argument must equal a value of the rows. Anybody can make one for each
  /// value of a parameter.
  package var lingeringBurdens = 64

  /// Feeds at the same time; one more takes the place of the one that nobody has used for longest,
  /// and is refused with 503 where all are in use. A client can make a feed for each value of a
  /// parameter, so there must be a bound.
  ///
  /// 40 000: twice what one address may use. What they take together is bounded in bytes
  /// (`RefresherLimits.memory`); an empty one takes some 8 KiB.
  package var maximumOfControllers = 40_000

  /// Streams of one client address (a /64 of IPv6); one more is refused with 429.
  ///
  /// 20 000, as many as it may have connections: ten thousand browsers behind one NAT, each with two
  /// pages open.
  package var streamsPerAddress = 20_000

  /// Live queries that one client address uses at the same time; one more is refused with 429.
  ///
  /// 20 000, half of all: ten thousand browsers behind one NAT have a query of their own each, and
  /// leave as many for everybody else.
  package var queriesPerAddress = 20_000

  /// Streams of one caller, from whatever addresses; one more is refused with 429.
  ///
  /// 1000: far more than a person has pages open, and enough for a program that acts for one.
  package var streamsPerCaller = 1000

  /// Live queries that one caller uses at the same time; one more is refused with 429.
  package var queriesPerCaller = 5000

  /// Bytes of results that one caller's streams show; one more is refused with 429. nil: a quarter of
  /// what all may take (`RefresherLimits.memory`), as much as one result may.
  package var memoryPerCaller: Int?

  /// How long a stream may be silent before it is sent a comment. `protocol.md` §4 promises 15 s.
  package var heartbeat = Duration.seconds(15)

  /// Streams that HTTP caches may share end together, at multiples of this; nil: none may be shared.
  ///
  /// 60 s is best: a million clients then spend less than 2 % of their time between two streams, and
  /// each cache asks the server for a stream once a minute.
  package var sharedStreams: Duration?

  package init() {}
}
