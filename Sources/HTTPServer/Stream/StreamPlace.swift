/// Where a stream is to be found, as long as it is.
struct StreamPlace: Sendable {
  let loop: EventLoop
  let token: UInt64
  let exchange: UInt32

  /// Has the stream look for what there is to do; from any thread.
  func resumeLater() {
    loop.perform { loop in
      guard let connection = loop.connection(token), case .stream(let stream) = connection.body,
        stream.exchange == exchange
      else { return }
      connection.resume(stream)
    }
  }
}
