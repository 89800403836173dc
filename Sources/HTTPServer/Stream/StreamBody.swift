/// A body without an end: something to begin with, and then what a broadcast brings.
package struct StreamBody: Sendable {
  /// Makes the next bytes, or nil at the end.
  ///
  /// Called on the connection's loop as the socket drains, never by two threads at once: what it
  /// makes is never in memory whole. It must not wait for anything.
  package typealias Producer = @Sendable () -> [UInt8]?

  /// What a stream sends instead of what it has missed.
  package struct Resumption: Sendable {
    /// Sent first.
    package var prefix: Producer?

    /// Where the stream continues.
    package var position: Broadcast.Position

    /// Sends `prefix`, and continues at `position`.
    package init(prefix: Producer?, position: Broadcast.Position) {
      self.prefix = prefix
      self.position = position
    }
  }

  /// Turns the bytes of a stream into those of another format, piece by piece: a piece ends anywhere
  /// in the prefix, and between two units after it.
  ///
  /// Called on the connection's loop, never by two threads at once; may give nothing.
  package typealias Recoding = @Sendable ([UInt8]) -> [UInt8]

  /// Sent before the broadcast, pieces of any size.
  package var prefix: Producer?

  /// What the stream shows.
  package var broadcast: Broadcast

  /// Where it continues after the prefix.
  package var position: Broadcast.Position

  /// Asked when the reader was so slow that its place (the argument) has fallen off the log: what
  /// to send instead.
  ///
  /// Nil ends the stream. Called on the connection's loop, when the socket has room again.
  package var onLag: @Sendable (Broadcast.Position) -> Resumption?

  /// Told where a reader stands that has stopped reading, so that `onLag` can later say what came
  /// since.
  ///
  /// Called on the connection's loop.
  package var onStall: (@Sendable (Broadcast.Position) -> Void)?

  /// Makes the last bytes of a stream whose broadcast was closed: for each stream its own.
  package var farewell: @Sendable () -> [UInt8]

  /// How the stream ends by itself; nil: only with its broadcast, or its reader.
  package var term: StreamTerm?

  /// Sent when nothing else was for a while, so that proxies do not close the stream and a reader
  /// that is gone is found.
  package var heartbeat: Heartbeat?

  /// The stream is over, whatever the reason, or never began, or went on with another body; called
  /// once, on any thread.
  package var onEnd: @Sendable () -> Void

  /// Holds the stream and redirects it; a stream without one is the cheaper one.
  package var remote: StreamRemote?

  /// Changes all that is sent, the heartbeat and the farewell too.
  ///
  /// Costs a copy of each unit for this stream; without one, the socket is given the log itself.
  package var recoding: Recoding?

  package init(
    prefix: Producer? = nil, broadcast: Broadcast, position: Broadcast.Position,
    heartbeat: Heartbeat? = nil,
    onLag: @escaping @Sendable (Broadcast.Position) -> Resumption? = { _ in nil },
    onStall: (@Sendable (Broadcast.Position) -> Void)? = nil,
    farewell: @escaping @Sendable () -> [UInt8] = { [] }, term: StreamTerm? = nil,
    onEnd: @escaping @Sendable () -> Void = {}, remote: StreamRemote? = nil,
    recoding: Recoding? = nil
  ) {
    self.prefix = prefix
    self.broadcast = broadcast
    self.position = position
    self.heartbeat = heartbeat
    self.onLag = onLag
    self.onStall = onStall
    self.farewell = farewell
    self.term = term
    self.onEnd = onEnd
    self.remote = remote
    self.recoding = recoding
  }
}

/// The length of a stream that ends by itself, and what it says at its end.
package struct StreamTerm: Sendable {
  /// Why a stream with a term is over.
  package enum Ending: Sendable {
    /// It has lived as long as it should.
    case due
    /// Its broadcast was closed before.
    case early
  }

  /// How long the stream lives from its first byte on.
  ///
  /// It ends at most two ticks of the timer wheel later (`lateness`), and never before its prefix
  /// and what its broadcast had at that time were sent.
  package var lifetime: Duration

  /// Makes the very last bytes, behind the farewell of a closed broadcast, for a stream that has
  /// shown its broadcast up to a position.
  ///
  /// Called on the connection's loop.
  package var end: @Sendable (Broadcast.Position, Ending) -> [UInt8]

  package init(
    lifetime: Duration, end: @escaping @Sendable (Broadcast.Position, Ending) -> [UInt8]
  ) {
    self.lifetime = lifetime
    self.end = end
  }
}

extension StreamBody {
  /// Nobody will see this body.
  func discard() {
    remote?.end()
    onEnd()
  }
}

/// Bytes that say "still here".
package struct Heartbeat: Sendable {
  /// Whole bytes of the format, such as a comment.
  package var bytes: [UInt8]

  /// How long a stream may be silent.
  package var interval: Duration

  package init(bytes: [UInt8], interval: Duration) {
    self.bytes = bytes
    self.interval = interval
  }
}
