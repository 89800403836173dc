import HTTPTypes

/// What the observer of one connection will be told: only there where there is one, because ten
/// thousand idle streams have each their own.
// Guarded by the loop's queue.
final class Observation {
  private let observer: ExchangeObserver
  private let address: SocketAddress
  /// Of the requests that are being answered.
  private var requests: [UInt32: RequestSummary] = [:]
  /// Of the response that is being written.
  private var current: FinishedExchange?
  private var since = Moment(nanoseconds: 0)

  init(_ observer: @escaping ExchangeObserver, _ address: SocketAddress) {
    self.observer = observer
    self.address = address
  }

  func begin(_ request: Request, _ exchange: UInt32) {
    requests[exchange] = RequestSummary(request)
  }

  /// The response that was begun last is a stream, whose end may be far.
  func beginStream(at now: Moment) {
    current?.phase = .begin
    if var exchange = current {
      exchange.duration = now - since
      observer(exchange)
    }
    current?.phase = .end
  }

  func beginResponse(_ response: Response, _ exchange: ConnectionStateMachine.Exchange) {
    let request = requests.removeValue(forKey: exchange.id)
    since = exchange.receivedAt
    current = FinishedExchange(
      request: request, client: request?.client ?? address.host, status: response.status.code,
      bytes: 0, duration: .zero, isComplete: false, route: response.route,
      caller: response.caller)
  }

  func endResponse(bytes: Int) { tell(bytes: bytes, isComplete: true) }

  /// The connection ends: what was being answered, and what was to be, is over.
  func end(written bytes: Int, at now: Moment) {
    tell(bytes: bytes, isComplete: false)
    for (_, request) in requests.sorted(by: { $0.key < $1.key }) {
      since = now
      current = FinishedExchange(
        request: request, client: request.client, status: 499, bytes: 0, duration: .zero,
        isComplete: false, route: nil)
      tell(bytes: 0, isComplete: false)
    }
    requests = [:]
  }

  private func tell(bytes: Int, isComplete: Bool) {
    guard var exchange = current else { return }
    current = nil
    exchange.bytes = bytes
    exchange.isComplete = isComplete
    exchange.duration = SystemCalls.now() - since
    observer(exchange)
  }
}

extension Connection {
  /// The last byte of the response that is being written is on its way.
  func responseWritten(bytes: Int = 0) {
    observation?.endResponse(bytes: bytes)
    machine.responseWritten(at: loop.now)
  }

  /// What was handed over of the body that is being written.
  var bytesOfBody: Int {
    switch body {
    case .none: 0
    case .file(_, let sent): sent
    case .stream(let stream): stream.bytes
    }
  }
}
