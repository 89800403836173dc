import HTTP1

/// Where one stream is: guarded by its loop's queue.
final class ActiveStream {
  enum Phase {
    /// Sending what the producer makes.
    case prefix(StreamBody.Producer)
    /// Sending what the broadcast brings.
    case live
    /// Nothing more but this.
    case ending(farewell: [UInt8])
  }

  private(set) var body: StreamBody
  /// Of the first body, and so of all that follow it.
  let remote: StreamRemote?
  let exchange: UInt32
  let isChunked: Bool
  private let lateness: Duration
  /// When it ends by itself; nil: it does not.
  private let end: Moment?
  var phase: Phase
  /// The position after the last byte that was handed to the socket or to the connection's outbox.
  var cursor: Int
  var lastWrite: Moment
  /// What was handed to the connection so far.
  var bytes = 0
  /// Where the stream gets its broadcast from, and its place there.
  var fanOut: FanOut?
  var index = 0
  /// Whether the fan-out shows it the log; `cursor`, `bytes` and `lastWrite` are old then.
  private var isParked = false

  /// A stream that begins; `lateness` is a tick of the timer wheel that wakes its connection.
  init(
    _ body: StreamBody, exchange: UInt32, isChunked: Bool, now: Moment, lateness: Duration
  ) {
    self.lateness = lateness
    self.body = body
    remote = body.remote
    self.exchange = exchange
    self.isChunked = isChunked
    end = body.term.map { now + $0.lifetime }
    phase = body.prefix.map(Phase.prefix) ?? .live
    // The phase holds it as long as it makes something: behind it stands a whole result.
    self.body.prefix = nil
    cursor = body.position.offset
    lastWrite = now
  }

  deinit { assert(fanOut == nil, "a stream must be ended") }

  var isLive: Bool { if case .live = phase { true } else { false } }

  /// Whether nothing of the log may be sent; to be read after the log's view was taken.
  var isHeld: Bool { remote?.isHeld ?? false }

  /// Begins with another body, and returns the one before.
  func goOn(with next: StreamBody) -> StreamBody {
    assert(fanOut == nil, "a stream must have left its broadcast")
    let old = body
    body = next
    phase = next.prefix.map(Phase.prefix) ?? .live
    body.prefix = nil
    cursor = next.position.offset
    return old
  }

  /// When the heartbeat is due: so early that the wheel, which may be two ticks late, does not make
  /// the silence longer than the interval.
  var heartbeatDue: Moment? {
    guard let interval = body.heartbeat?.interval, isLive else { return nil }
    return lastWrite + max(interval - lateness * 2, interval / 2)
  }

  /// When there is something to do though nothing comes: a heartbeat, or the end.
  var deadline: Moment? {
    guard isLive, !isHeld, let end else { return heartbeatDue }
    return min(heartbeatDue ?? end, end)
  }

  /// Whether it has lived as long as it should.
  func isDue(at now: Moment) -> Bool { end.map { $0 <= now } ?? false }

  /// The last bytes; the stream has shown the log up to its cursor.
  func lastBytes(isClosed: Bool) -> [UInt8] {
    let position = Broadcast.Position(offset: cursor)
    let last = body.term?.end(position, isClosed ? .early : .due) ?? []
    return isClosed ? body.farewell() + last : last
  }

  /// Leaves the stream to the fan-out, where it waits for the log and for nothing else.
  ///
  /// One that may be held is never left to it: the fan-out looks at no remote.
  func park() {
    guard !isParked, isLive, sendsLogAsItIs, remote == nil, let fanOut else { return }
    fanOut.park(at: index, cursor: cursor, lastWrite: lastWrite)
    isParked = true
  }

  /// Before anything else happens to it.
  func unpark() {
    guard isParked, let fanOut else { return }
    let start = cursor
    (cursor, lastWrite) = fanOut.unpark(at: index)
    bytes += cursor - start
    isParked = false
  }

  /// Whether what the log holds, in its chunks, is what the reader gets.
  var sendsLogAsItIs: Bool { isChunked && body.recoding == nil }

  func append(_ made: [UInt8], to output: inout [UInt8]) {
    let bytes = body.recoding.map { $0(made) } ?? made
    self.bytes += bytes.count
    if isChunked { ChunkFraming.append(bytes, to: &output) } else { output += bytes }
  }
}
