import HTTP1
import HTTPTypes

extension Connection {
  func perform(_ action: ConnectionStateMachine.Action) {
    switch action {
    case .dispatch(let head, let exchange):
      let request = request(head)
      observation?.begin(request, exchange)
      loop.handler(request, Responder(loop: loop, token: token, exchange: exchange))
    case .refuse(let error, let exchange):
      answered(exchange, Problem.response(Problem(error.status, error.detail)))
    case .write(let response, let exchange): begin(response, exchange)
    case .shutdownWrite: SystemCalls.shutdownWrite(descriptor)
    case .close: close()
    }
  }

  private func request(_ head: RequestHead) -> Request {
    let proxies = loop.settings.server.trustedProxies
    let forwarding =
      proxies.isEmpty ? nil : Forwarding(head.fields, peer: address, trusting: proxies)
    return Request(head: head, remoteAddress: address, forwarding: forwarding)
  }

  /// A handler has answered, on the queue.
  func answered(_ exchange: UInt32, _ response: Response) {
    if isClosed { return response.discard() }
    abandonments.remove(exchange)
    turn { machine.answered(exchange, response)?.discard() }
  }

  private func begin(_ made: Response, _ exchange: ConnectionStateMachine.Exchange) {
    let response = exchange.conditions?.apply(to: made) ?? made
    let answer = ServerStatistics.Answer(route: response.route, status: response.status.code)
    let time = SystemCalls.now().nanoseconds - exchange.receivedAt.nanoseconds
    loop.counters.update { $0.answers[answer, default: Histogram()].record(nanoseconds: time) }
    observation?.beginResponse(response, exchange)
    let framing = response.framing(for: exchange)
    var keepsAlive = exchange.keepsAlive
    if framing == .untilClose {
      machine.closeAfterResponse()
      keepsAlive = false
    }
    let connection: StaticString? =
      !keepsAlive ? "close" : exchange.version == .http10 ? "keep-alive" : nil
    write { output in
      ResponseSerializer.append(
        status: response.status, fields: response.fields, framing: framing,
        connection: connection, date: loop.date, to: &output)
    }
    guard !exchange.isHead, response.status.allowsBody else {
      response.discard()
      return responseWritten()
    }
    switch response.body {
    case .none: responseWritten()
    case .bytes(let bytes):
      write(bytes)
      responseWritten(bytes: bytes.count)
    case .file(let file):
      body = .file(file, sent: 0)
      advanceBody()
    case .stream(let stream):
      observation?.beginStream(at: loop.now)
      beginStream(stream, exchange: exchange.id, isChunked: framing == .chunked)
    }
  }
}

extension Response {
  /// Nobody will see this response.
  func discard() {
    if case .stream(let stream) = body { stream.discard() }
  }

  /// RFC 9112 §6.3, RFC 9110 §8.6.
  func framing(for exchange: ConnectionStateMachine.Exchange) -> ResponseFraming {
    guard status.allowsBody else { return .none }
    switch body {
    // To HEAD, no length is better than a wrong one.
    case .none: return exchange.isHead ? .none : .length(0)
    case .bytes(let bytes): return .length(bytes.count)
    case .file(let file): return .length(file.length)
    case .stream: return exchange.version == .http11 ? .chunked : .untilClose
    }
  }
}

extension HTTPResponse.Status {
  /// RFC 9110 §6.4.1.
  var allowsBody: Bool { code >= 200 && code != 204 && code != 304 }
}
