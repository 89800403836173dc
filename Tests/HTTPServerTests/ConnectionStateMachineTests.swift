import HTTP1
import HTTPTypes
import HeldMemory
import Testing

@testable import HTTPServer

/// A state machine with a clock that stands still until it is told.
private struct Machine {
  var machine: ConnectionStateMachine
  var now = Moment(nanoseconds: 0)

  init(_ configure: (inout ServerSettings) -> Void = { _ in }) {
    var settings = ServerSettings()
    configure(&settings)
    machine = ConnectionStateMachine(
      settings: ConnectionSettings(settings), now: Moment(nanoseconds: 0))
  }

  /// What it wants done, in words.
  mutating func actions() -> [String] {
    var result: [String] = []
    while let action = machine.next(at: now) {
      result.append(action.words)
      if case .close = action { break }
    }
    return result
  }

  mutating func receive(_ text: String) -> [String] {
    Array(text.utf8).withUnsafeBytes { machine.received($0, at: now) }
    return actions()
  }

  mutating func answer(_ exchange: UInt32, _ status: HTTPResponse.Status = .ok) -> [String] {
    #expect(machine.answered(exchange, Response(status)) == nil)
    return actions()
  }

  mutating func written() -> [String] {
    machine.responseWritten(at: now)
    return actions()
  }

  mutating func pass(_ seconds: Double) -> [String] {
    now = now + .seconds(seconds)
    machine.timePassed(now)
    return actions()
  }
}

extension ConnectionStateMachine.Action {
  fileprivate var words: String {
    switch self {
    case .dispatch(let head, let exchange): "dispatch \(exchange) \(head.target.text)"
    case .refuse(let error, let exchange): "refuse \(exchange) \(error)"
    case .write(let response, let exchange):
      "write \(exchange.id) \(response.status.code)" + (exchange.isHead ? " head" : "")
        + (exchange.keepsAlive ? "" : " close")
    case .shutdownWrite: "shutdown"
    case .close: "close"
    }
  }
}

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
private let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"

@Test func `responses wait for their turn`() {
  var machine = Machine()
  #expect(machine.receive(get + get) == ["dispatch 0 /", "dispatch 1 /"])
  #expect(machine.answer(1) == [])
  #expect(machine.answer(0) == ["write 0 200"])
  #expect(machine.written() == ["write 1 200"])
  #expect(machine.written() == [])
}

@Test func `answers that wait for those before them are counted`() {
  // Much more than whatever else is held meanwhile.
  let size = 256 << 20
  var machine = Machine()
  _ = machine.receive(get + get)
  let before = HeldMemory.bytes
  _ = machine.machine.answered(1, Response(.ok, body: .bytes([UInt8](repeating: 0, count: size))))
  #expect(HeldMemory.bytes - before > size / 2)
  _ = machine.machine.takeResponses()
  #expect(HeldMemory.bytes - before < size / 2)
}

@Test func `a bounded number of requests is in flight`() {
  var machine = Machine { $0.maximumPipelinedRequests = 2 }
  #expect(machine.receive(get + get + get).count == 2)
  #expect(machine.answer(0) == ["write 0 200", "dispatch 2 /"])
}

@Test func `nothing is read for a peer that does not take its responses`() {
  var machine = Machine()
  _ = machine.receive(get)
  _ = machine.answer(0)
  machine.machine.sent(progress: false, unsent: 100_000, isBlocked: true, at: machine.now)
  _ = machine.written()
  #expect(machine.receive(get) == [])
  #expect(machine.receive(String(repeating: get, count: 2000)) == [])
  #expect(!machine.machine.wantsRead)
  machine.machine.sent(progress: true, unsent: 0, isBlocked: false, at: machine.now)
  #expect(machine.actions().first == "dispatch 1 /")
}

@Test func `a request that waits for 100-continue is answered at once, and nothing after it`() {
  var machine = Machine()
  let expecting = post + "Expect: 100-continue\r\n\r\n"
  #expect(machine.receive(get + expecting) == ["dispatch 0 /", "dispatch 1 /"])
  #expect(machine.answer(1, .methodNotAllowed) == [])
  #expect(machine.answer(0) == ["write 0 200"])
  #expect(machine.written() == ["write 1 405 close"])
  // The body comes nevertheless, and what follows it is no request.
  #expect(machine.receive("abc" + get) == [])
  #expect(machine.written() == ["shutdown"])
  #expect(machine.pass(2) == ["close"])
}

@Test func `a request that does not wait for 100-continue is read to its end`() {
  var machine = Machine()
  let expecting = post + "Expect: 100-continue\r\n\r\n"
  #expect(machine.receive(expecting + "a") == [])
  #expect(machine.receive("bc" + get) == ["dispatch 0 /", "dispatch 1 /"])
  #expect(machine.answer(0) == ["write 0 200"])
}

@Test(arguments: ["a cake", "100-continue, a cake"])
func `another expectation is refused before the body comes`(expectation: String) {
  for body in ["", "abc"] {
    var machine = Machine()
    let expecting = post + "Expect: \(expectation)\r\n\r\n" + body
    #expect(machine.receive(expecting) == ["refuse 0 unsupportedExpectation"])
    #expect(machine.answer(0, .expectationFailed) == ["write 0 417 close"])
  }
}

@Test(arguments: [
  "HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n", "HEAD / HTTP/3.0\r\n", "HEAD /\n",
  "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
  "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx",
  "HEAD / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nContent-Length: 1\r\n\r\n",
]) func `a HEAD that is refused is answered as one`(text: String) {
  var machine = Machine()
  #expect(machine.receive(text).first?.hasPrefix("refuse 0") == true)
  #expect(machine.answer(0, .badRequest) == ["write 0 400 head close"])
}

@Test(arguments: ["HEAD ", "HEAD /a", "HEAD / HTTP/1.1\r\nHo"])
func `a HEAD that is slow is answered as one`(text: String) {
  var machine = Machine()
  #expect(machine.receive(text) == [])
  #expect(machine.pass(10) == ["refuse 0 headTimeout"])
  #expect(machine.answer(0, .requestTimeout) == ["write 0 408 head close"])
}

@Test func `a new connection that says nothing is closed after the head timeout`() {
  var machine = Machine()
  #expect(machine.pass(9) == [])
  #expect(machine.pass(1) == ["close"])
}

@Test func `a slow head is 408, however steadily it drips`() {
  var machine = Machine()
  for _ in 0..<19 {
    #expect(machine.receive("G") == [])
    #expect(machine.pass(0.5) == [])
  }
  #expect(machine.pass(0.5) == ["refuse 0 headTimeout"])
  #expect(machine.answer(0, .requestTimeout) == ["write 0 408 close"])
  #expect(machine.written() == ["shutdown"])
  #expect(machine.receive("more") == [])
  #expect(machine.pass(2) == ["close"])
}

@Test func `a slow body is 408`() {
  var machine = Machine()
  #expect(machine.receive(post + "\r\na") == [])
  #expect(machine.pass(29) == [])
  #expect(machine.pass(1) == ["refuse 0 bodyTimeout"])
}

@Test func `a handler may take its time`() {
  var machine = Machine()
  _ = machine.receive(get)
  #expect(machine.machine.deadline == nil)
  #expect(machine.pass(10_000) == [])
}

@Test func `an idle connection is closed without a word`() {
  var machine = Machine()
  _ = machine.receive(get)
  _ = machine.answer(0)
  _ = machine.written()
  #expect(machine.pass(74) == [])
  #expect(machine.pass(1) == ["close"])
}

@Test func `a reader that takes nothing is closed, one that takes a little is not`() {
  var machine = Machine()
  _ = machine.receive(get)
  _ = machine.answer(0)
  for _ in 0..<5 {
    machine.machine.sent(progress: true, unsent: 10, isBlocked: true, at: machine.now)
    #expect(machine.pass(59) == [])
  }
  machine.machine.sent(progress: false, unsent: 10, isBlocked: true, at: machine.now)
  #expect(machine.pass(1) == ["close"])
}

@Test func `when the server stops an idle connection closes and a request in flight is answered`() {
  var idle = Machine()
  _ = idle.receive(get)
  _ = idle.answer(0)
  _ = idle.written()
  idle.machine.drain()
  #expect(idle.actions() == ["close"])
  var early = Machine()
  #expect(early.pass(0.5) == [])
  early.machine.drain()
  #expect(early.actions() == ["close"])
  var busy = Machine()
  _ = busy.receive(get)
  busy.machine.drain()
  #expect(busy.actions() == [])
  #expect(busy.answer(0) == ["write 0 200 close"])
  #expect(busy.written() == ["close"])
  var half = Machine()
  _ = half.receive("GET / HT")
  half.machine.drain()
  #expect(half.actions() == [])
  #expect(half.receive("TP/1.1\r\nHost: a\r\n\r\n") == ["dispatch 0 /"])
  #expect(half.answer(0) == ["write 0 200 close"])
}

@Test func `when the server stops a connection that has just come is waited for`() {
  var late = Machine()
  late.machine.drain()
  #expect(late.actions() == [])
  #expect(late.pass(0.4) == [])
  #expect(late.receive(get) == ["dispatch 0 /"])
  #expect(late.answer(0) == ["write 0 200 close"])
  #expect(late.written() == ["close"])
  var silent = Machine()
  silent.machine.drain()
  #expect(silent.actions() == [])
  #expect(silent.pass(0.5) == ["close"])
}

@Test func `a peer that has finished gets its answers first`() {
  var machine = Machine()
  _ = machine.receive(get)
  machine.machine.peerFinished()
  #expect(machine.actions() == [])
  #expect(machine.answer(0) == ["write 0 200 close"])
  #expect(machine.written() == ["close"])
}

@Test func `nothing is closed before its last byte is sent`() {
  var machine = Machine()
  _ = machine.receive("GET / HTTP/1.0\r\n\r\n")
  _ = machine.answer(0)
  machine.machine.sent(progress: false, unsent: 10, isBlocked: true, at: machine.now)
  #expect(machine.written() == [])
  machine.machine.sent(progress: true, unsent: 0, isBlocked: false, at: machine.now)
  #expect(machine.actions() == ["close"])
}

@Test func `a stream whose client leaves is over`() {
  var machine = Machine()
  _ = machine.receive(get)
  _ = machine.answer(0)
  machine.machine.streamBegan()
  #expect(machine.receive(get) == [])
  #expect(machine.machine.deadline == nil)
  machine.machine.peerFinished()
  #expect(machine.actions() == ["close"])
}

@Test func `an answer that nobody wants comes back`() {
  var machine = Machine()
  _ = machine.receive(get)
  #expect(machine.machine.answered(7, Response(.ok)) != nil)
  machine.machine.failed()
  #expect(machine.machine.answered(0, Response(.ok)) != nil)
}
