import HTTP1

extension Connection {
  /// What one turn takes from a producer; then others have theirs.
  private static let mostOfATurn = 256 * 1024
  /// Pieces of a producer are collected to about this before they are sent.
  private static let pieceSize = 32 * 1024

  /// Two pieces: enough to keep a reader busy while the next turn is waited for.
  private static let mostUnsentBySystem: Int32 = 128 * 1024

  func beginStream(_ stream: StreamBody, exchange: UInt32, isChunked: Bool) {
    let active = ActiveStream(
      stream, exchange: exchange, isChunked: isChunked, now: loop.now,
      lateness: loop.settings.server.timeouts.lateness)
    body = .stream(active)
    if address.isInternet { SystemCalls.limitUnsent(descriptor, to: Self.mostUnsentBySystem) }
    machine.streamBegan()
    active.remote?.begin(place(of: active))
    loop.counters.update {
      $0.streamsBegun += 1
      $0.streamsOpen += 1
    }
    advance(active)
  }

  /// The stream goes on as far as the socket has room.
  func advance(_ stream: ActiveStream) {
    var left = Self.mostOfATurn
    while !isBlocked, !isClosed, isCurrent(stream) {
      switch stream.phase {
      case .prefix(let producer): pull(producer, for: stream, &left)
      case .live:
        if !goOnLive(stream) { return }
        // Whatever sources and `onLag` answer, the turn comes to an end.
        left -= Self.pieceSize
      case .ending(let farewell): finish(stream, farewell: farewell)
      }
      if left <= 0 {
        // EPOLLOUT comes at once where there is room, after the others' turns.
        flush()
        isBlocked = true
        noteSent(progress: true)
      }
    }
  }

  func isCurrent(_ stream: ActiveStream) -> Bool {
    if case .stream(let current) = body { current === stream } else { false }
  }

  /// Does what a redirection says, or sends what the log has by now.
  ///
  /// - Returns: Whether the stream has something else to do now.
  private func goOnLive(_ stream: ActiveStream) -> Bool {
    if askRedirection(stream) { return true }
    if stream.fanOut == nil { join(stream) }
    let view = stream.body.broadcast.view
    guard stream.isHeld else { return sendLog(stream, view) }
    // The end of the log is not held.
    if view.isClosed { stream.phase = .ending(farewell: stream.lastBytes(isClosed: true)) }
    return view.isClosed
  }

  private func pull(_ producer: StreamBody.Producer, for stream: ActiveStream, _ left: inout Int) {
    guard let bytes = producer() else {
      stream.phase = .live
      return
    }
    guard !isClosed, isCurrent(stream) else { return }
    left -= max(bytes.count, 64)
    write { stream.append(bytes, to: &$0) }
    stream.lastWrite = loop.now
    if loop.scratch.count >= Self.pieceSize { flush() }
  }

  /// Leaves a stream that waits for the log and for nothing else to its fan-out.
  func parkStream() {
    guard !isBlocked, !machine.hasFailed, case .stream(let stream) = body else { return }
    stream.park()
  }

  /// Shows a stream what the log has, where its fan-out cannot do it by itself.
  ///
  /// - Parameters:
  ///   - view: what the log holds.
  ///   - isElsewhere: whether this is another thread than the loop's, which does no more for the
  ///     stream than that.
  func showLog(_ view: LogView, isElsewhere: Bool) {
    guard !isBlocked, case .stream(let stream) = body, stream.isLive else { return }
    stream.unpark()
    if stream.isHeld { return goOn(stream, isDue: view.isClosed, isElsewhere: isElsewhere) }
    if isElsewhere, stream.cursor < view.start { return place(of: stream).resumeLater() }
    let isDue = sendLog(stream, view)
    goOn(stream, isDue: isDue, isElsewhere: isElsewhere)
  }

  /// The same, where the fan-out has sent already what the socket took.
  func logWasShown(_ view: LogView, _ transfer: Transfer, isElsewhere: Bool) {
    guard case .stream(let stream) = body else { return }
    assert(stream.remote == nil, "a stream that may be held is not parked")
    stream.unpark()
    took(transfer, of: view, stream)
    goOn(stream, isDue: false, isElsewhere: isElsewhere)
  }

  private func goOn(_ stream: ActiveStream, isDue: Bool, isElsewhere: Bool) {
    guard isDue || isBlocked || machine.hasFailed else { return stream.park() }
    if isElsewhere { place(of: stream).resumeLater() } else { resume(stream) }
  }

  /// Out of the hot way: the stream does something else than to send the log.
  func resume(_ stream: ActiveStream) {
    turn { if !isBlocked, !machine.hasFailed { advance(stream) } }
  }

  private func place(of stream: ActiveStream) -> StreamPlace {
    StreamPlace(loop: loop, token: token, exchange: stream.exchange)
  }

  /// Sends what the log has beyond the cursor; the stream is not held.
  ///
  /// - Returns: Whether the stream has something else to do now.
  private func sendLog(_ stream: ActiveStream, _ view: LogView) -> Bool {
    if stream.cursor < view.start {
      skip(stream)
      return true
    }
    let isOver = view.isClosed || stream.isDue(at: loop.now)
    if stream.cursor >= view.end {
      if isOver { stream.phase = .ending(farewell: stream.lastBytes(isClosed: view.isClosed)) }
      return isOver
    }
    flush()
    guard !isBlocked, !machine.hasFailed else { return false }
    if stream.sendsLogAsItIs {
      took(view.send(from: stream.cursor, to: descriptor), of: view, stream)
    } else {
      sendPayloads(stream, view)
    }
    return !isBlocked && (isOver || stream.cursor < view.end)
  }

  /// From here on the broadcast wakes this stream.
  ///
  /// What came before is seen by the view that is taken after it.
  private func join(_ stream: ActiveStream) {
    let fanOut = stream.body.broadcast.fanOut(of: loop)
    stream.index = fanOut.add(self)
    stream.fanOut = fanOut
  }

  /// What the socket took of a log from the stream's cursor on.
  private func took(_ transfer: Transfer, of view: LogView, _ stream: ActiveStream) {
    switch transfer {
    case .failed: machine.failed()
    case .wouldBlock:
      isBlocked = true
      noteSent(progress: false)
      noteStall(stream)
    case .bytes(let sent):
      noteBytes(sent)
      stream.cursor += sent
      stream.bytes += sent
      stream.lastWrite = loop.now
      if stream.cursor < view.end {
        isBlocked = true
        keepRestOfUnit(stream, view)
        noteSent(progress: sent > 0)
        noteStall(stream)
      }
    }
  }

  /// The owner may remember where the reader stands, so as to tell it later what it missed.
  private func noteStall(_ stream: ActiveStream) {
    stream.body.onStall?(Broadcast.Position(offset: stream.cursor))
  }

  /// The reader is slow.
  ///
  /// It holds the rest of the unit it is inside of, and a position; the log may drop everything
  /// else.
  private func keepRestOfUnit(_ stream: ActiveStream, _ view: LogView) {
    let segment = view.segments[view.segment(at: stream.cursor)]
    let unit = stream.body.broadcast.unit(in: segment, at: stream.cursor)
    guard unit.lowerBound < stream.cursor else { return }
    let rest = stream.cursor..<unit.upperBound
    if unit.count > ByteLog.largeUnit {
      outbox.append(segment, rest)
    } else {
      outbox.append(Array(segment.bytes(rest)))
    }
    stream.bytes += rest.count
    stream.cursor = unit.upperBound
  }

  private func sendPayloads(_ stream: ActiveStream, _ view: LogView) {
    let (bytes, end) = stream.body.broadcast.payloads(
      of: view, from: stream.cursor, limit: Self.pieceSize)
    stream.cursor = end
    stream.lastWrite = loop.now
    var output: [UInt8] = []
    stream.append(bytes, to: &output)
    outbox.append(output)
    sendOutbox()
    if isBlocked { noteStall(stream) }
  }

  private func skip(_ stream: ActiveStream) {
    let resumption = stream.body.onLag(Broadcast.Position(offset: stream.cursor))
    // Held meanwhile: what was said may tell what came after that.
    if stream.isHeld { return }
    loop.counters.update { $0.slowReadersSkipped += 1 }
    guard let resumption else {
      stream.phase = .ending(farewell: [])
      return
    }
    stream.cursor = resumption.position.offset
    stream.phase = resumption.prefix.map(ActiveStream.Phase.prefix) ?? .live
  }
}

// MARK: - Other events of a stream

extension Connection {
  func movedInFanOut(to index: Int) {
    if case .stream(let stream) = body { stream.index = index }
  }

  /// A stream's deadline may have come: for its end, or for a heartbeat.
  func streamIsDue() {
    guard !isBlocked, case .stream(let stream) = body, stream.isLive else { return }
    stream.isDue(at: loop.now) ? advance(stream) : beatHeart(of: stream)
  }

  private func beatHeart(of stream: ActiveStream) {
    guard let heartbeat = stream.body.heartbeat, let due = stream.heartbeatDue, due <= loop.now
    else { return }
    write { stream.append(heartbeat.bytes, to: &$0) }
    stream.lastWrite = loop.now
  }

  private func finish(_ stream: ActiveStream, farewell: [UInt8]) {
    write { output in
      stream.append(farewell, to: &output)
      if stream.isChunked { output += ChunkFraming.end }
    }
    endBody()
    responseWritten(bytes: stream.bytes)
  }

  /// Forgets the body that is being written.
  func endBody() {
    let ended = body
    body = .none
    guard case .stream(let stream) = ended else { return }
    leaveFanOut(stream)
    loop.counters.update { $0.streamsOpen -= 1 }
    stream.remote?.end()
    stream.body.onEnd()
  }
}
