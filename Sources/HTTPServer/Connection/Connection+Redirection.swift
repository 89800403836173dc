extension Connection {
  /// Asks a redirection that waits what to do; the stream stands between two units.
  ///
  /// - Returns: Whether there was one.
  func askRedirection(_ stream: ActiveStream) -> Bool {
    guard !machine.hasFailed, let remote = stream.remote, let call = remote.takeCall() else {
      return false
    }
    let redirection = call.body(Broadcast.Position(offset: stream.cursor))
    remote.wasAsked(call)
    switch redirection {
    case .stream(let body): goOn(stream, with: body)
    case .goOn: break
    case .end(let bytes): stream.phase = .ending(farewell: bytes)
    }
    return true
  }

  private func goOn(_ stream: ActiveStream, with body: StreamBody) {
    // Whoever was asked may have ended the connection.
    guard !isClosed, isCurrent(stream) else { return body.onEnd() }
    leaveFanOut(stream)
    stream.goOn(with: body).onEnd()
  }

  /// From here on the broadcast does not wake this stream.
  func leaveFanOut(_ stream: ActiveStream) {
    stream.fanOut?.remove(at: stream.index)
    stream.fanOut = nil
  }
}
