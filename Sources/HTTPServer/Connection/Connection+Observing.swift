import HTTPTypes

extension Connection {
  /// The last byte of the response that is being written is on its way.
  func responseWritten(bytes: Int = 0) {
    if observed != nil {
      observed?.bytes = bytes
      observed?.isComplete = true
      tellObserver()
    }
    machine.responseWritten(at: loop.now)
  }

  /// Remembers what the observer will be told of a response that begins.
  func beginObserving(_ response: Response, _ exchange: ConnectionStateMachine.Exchange) {
    guard loop.settings.observer != nil else { return }
    observedSince = exchange.receivedAt
    let request = unfinished.removeValue(forKey: exchange.id)
    observed = FinishedExchange(
      request: request, client: request?.client ?? address.host,
      status: response.status.code, bytes: 0, duration: .zero, isComplete: false,
      route: response.route)
  }

  /// The connection ends: what was being answered, and what was to be, is over.
  func observeEnd() {
    if observed != nil {
      if case .stream(let stream) = body { observed?.bytes = stream.bytes }
      if case .file(_, let sent) = body { observed?.bytes = sent }
      tellObserver()
    }
    for (_, request) in unfinished.sorted(by: { $0.key < $1.key }) {
      observed = FinishedExchange(
        request: request, client: request.client, status: 499, bytes: 0, duration: .zero,
        isComplete: false, route: nil)
      observedSince = loop.now
      tellObserver()
    }
    unfinished = [:]
  }

  private func tellObserver() {
    guard var exchange = observed else { return }
    observed = nil
    exchange.duration = SystemCalls.now() - observedSince
    loop.settings.observer?(exchange)
  }
}
