import HTTP1
import HTTPTypes
import HeldMemory

/// What a connection does, without doing it: events go in, actions come out, and time is an
/// argument.
///
/// Events are told by the `mutating` functions; after each, `next` is called until it returns nil
/// and its actions are performed in order. Requests are answered in any order and written in
/// theirs.
struct ConnectionStateMachine {
  /// What to do now.
  enum Action {
    /// Give a request to the handler.
    case dispatch(RequestHead, exchange: UInt32)
    /// Make a response of an error and give it to `answered`.
    case refuse(RequestError, exchange: UInt32)
    /// Write a response; tell `responseWritten` when its last byte is on its way.
    case write(Response, Exchange)
    /// Send FIN and read on (RFC 9112 §9.6).
    case shutdownWrite
    /// It is over.
    case close
  }

  /// A request whose response is not written yet.
  struct Exchange: Sendable {
    let id: UInt32
    let isHead: Bool
    let version: HTTPVersion
    /// Of a request that has any.
    let conditions: Preconditions?
    var keepsAlive: Bool
    /// When its head was whole, or what came could no longer be a request.
    let receivedAt: Moment
    fileprivate(set) var response: Response?
    /// Counts the answer while those before it are awaited.
    fileprivate var charge: MemoryCharge?
  }

  private enum Input {
    case head
    /// Indirect, because it is large and most connections are elsewhere.
    indirect case body(RequestHead, BodyDecoder)
    /// What comes is dropped: no further request will be answered.
    case ignored
  }

  private enum Phase { case open, lingering, closed }

  /// A peer whose responses wait is not asked for more requests.
  private static let mostUnsent = 64 * 1024
  /// What is left of an array that is kept between two requests.
  private static let keptCapacity = 1024

  private let settings: ConnectionSettings
  private var phase = Phase.open
  private var input = Input.head
  private var parser: RequestHeadParser
  private var bytes: [UInt8] = []
  private var consumed = 0
  private(set) var peerIsDone = false

  private var waiting: [Exchange] = []
  private var refusal: (RequestError, exchange: UInt32)?
  private var isWriting = false
  private(set) var isStreaming = false
  private var nextExchange: UInt32 = 0
  private var isDraining = false
  private var mustLinger = false

  private var unsent = 0
  private var isBlocked = false
  /// When the peer last took a byte.
  private var progressAt: Moment
  /// When the head, the body, the wait for a request, or the lingering began.
  private var phaseAt: Moment

  init(settings: ConnectionSettings, now: Moment) {
    self.settings = settings
    parser = RequestHeadParser(limits: settings.server.messageLimits)
    progressAt = now
    phaseAt = now
  }
}

// MARK: - Events

extension ConnectionStateMachine {
  /// Bytes came.
  mutating func received(_ new: UnsafeRawBufferPointer, at now: Moment) {
    if isIgnoring {
      mustLinger = true
      return
    }
    if isAtStart { phaseAt = now }
    if consumed > 0 {
      bytes.removeSubrange(..<consumed)
      consumed = 0
    }
    bytes.append(contentsOf: new)
  }

  /// The peer sent FIN.
  mutating func peerFinished() {
    peerIsDone = true
    // The peer of a stream that goes away says so first by this; to wait for a write to fail would
    // keep what the stream holds until the next event or heartbeat.
    if isStreaming || phase == .lingering { phase = .closed }
  }

  /// A handler answered.
  ///
  /// Returns the response if nobody wants it.
  mutating func answered(_ exchange: UInt32, _ response: Response) -> Response? {
    guard phase == .open, let index = waiting.firstIndex(where: { $0.id == exchange }),
      waiting[index].response == nil
    else { return response }
    waiting[index].response = response
    // Handlers answer in any order, and a peer may read nothing of what it asked for.
    if case .bytes(let bytes) = response.body {
      waiting[index].charge = MemoryCharge(bytes.count)
    }
    return nil
  }

  /// The response that is being written is one without an end.
  mutating func streamBegan() {
    isStreaming = true
    // A stream lives for hours; it does not hold the memory of its request.
    if consumed == bytes.count { (bytes, consumed) = ([], 0) }
    if peerIsDone { phase = .closed }
  }

  /// The last byte of the response that is being written is on its way.
  mutating func responseWritten(at now: Moment) {
    isWriting = false
    isStreaming = false
    phaseAt = now
  }

  /// The end of the response that is being written will be that of the connection.
  mutating func closeAfterResponse() { ignoreInput() }

  /// The connection, or the response that is being written, cannot go on.
  mutating func failed() { phase = .closed }

  /// The responses that nobody will see any more.
  mutating func takeResponses() -> [Response] {
    defer { waiting = [] }
    return waiting.compactMap(\.response)
  }

  /// How much is left to send, and whether the peer took anything.
  mutating func sent(progress: Bool, unsent: Int, isBlocked: Bool, at now: Moment) {
    if progress || !self.isBlocked { progressAt = now }
    self.unsent = unsent
    self.isBlocked = isBlocked
  }

  /// The server stops: requests in flight are answered, also where one is only expected, then the
  /// connection is closed.
  mutating func drain() { isDraining = true }

  /// Time has passed, perhaps beyond `deadline`.
  mutating func timePassed(_ now: Moment) {
    guard let deadline, now >= deadline else { return }
    if phase == .lingering || isBlocked || isAtStart {
      phase = .closed
    } else if case .body = input {
      refuse(.bodyTimeout)
    } else {
      refuse(.headTimeout)
    }
  }
}

// MARK: - What follows from them

extension ConnectionStateMachine {
  /// When `timePassed` must be called, or nil while only a handler is waited for.
  var deadline: Moment? {
    let deadlines = settings.deadlines
    switch phase {
    case .closed: return nil
    case .lingering: return phaseAt + deadlines.linger
    case .open:
      if isBlocked { return progressAt + deadlines.write }
      if !waiting.isEmpty || isWriting || isIgnoring { return nil }
      if case .body = input { return phaseAt + deadlines.body }
      if isDraining, isNew { return phaseAt + deadlines.arrival }
      return phaseAt + (isAtStart && nextExchange > 0 ? deadlines.idle : deadlines.head)
    }
  }

  /// Since when the connection waits for a request of which nothing has come; nil: it does not.
  var idleSince: Moment? {
    guard phase == .open, isAtStart, waiting.isEmpty, !isWriting, !isBlocked, unsent == 0 else {
      return nil
    }
    return phaseAt
  }

  /// Whether a request has come.
  var hasServed: Bool { nextExchange > 0 }

  /// Whether bytes should be read now; while not, the kernel holds the peer back.
  var wantsRead: Bool {
    guard !peerIsDone, phase != .closed else { return false }
    return isIgnoring || mayParse || bytes.count - consumed < settings.server.messageLimits.headSize
  }

  /// Whether an exchange has no answer yet.
  func isWaiting(for exchange: UInt32) -> Bool {
    waiting.contains { $0.id == exchange && $0.response == nil }
  }

  /// Whether nothing but `close` can follow.
  var hasFailed: Bool { phase == .closed }

  /// What to do next, or nil when there is nothing to do until the next event.
  mutating func next(at now: Moment) -> Action? {
    switch phase {
    case .closed: return .close
    case .lingering: return nil
    case .open: break
    }
    if let refusal {
      self.refusal = nil
      return .refuse(refusal.0, exchange: refusal.exchange)
    }
    return nextResponse() ?? (mayParse ? readInput(at: now) : nil) ?? nextEnd(at: now)
  }

  private var isIgnoring: Bool { if case .ignored = input { true } else { false } }

  /// Whether there is nothing of a request.
  private var isAtStart: Bool {
    guard case .head = input else { return false }
    return consumed == bytes.count && !parser.isInsideHead
  }

  /// Whether nothing has come yet.
  private var isNew: Bool { isAtStart && nextExchange == 0 }

  /// Whether the first request is on its way as far as anybody knows.
  private func isExpected(at now: Moment) -> Bool {
    isNew && now < phaseAt + settings.deadlines.arrival
  }

  private var mayParse: Bool {
    !isIgnoring && !isStreaming && unsent < Self.mostUnsent
      && waiting.count < settings.server.maximumPipelinedRequests
  }

  private mutating func nextResponse() -> Action? {
    guard !isWriting, unsent < Self.mostUnsent, !waiting.isEmpty,
      let response = waiting[0].response.take()
    else { return nil }
    var exchange = waiting.removeFirst()
    if waiting.isEmpty, isDraining || peerIsDone && isAtStart { exchange.keepsAlive = false }
    if !exchange.keepsAlive { ignoreInput() }
    isWriting = true
    return .write(response, exchange)
  }

  private mutating func nextEnd(at now: Moment) -> Action? {
    guard !isWriting, waiting.isEmpty, unsent == 0, !isBlocked else { return nil }
    // A request that is half read when the server stops is still answered, within its timeouts.
    guard isIgnoring || peerIsDone || isDraining && isAtStart && !isExpected(at: now) else {
      return nil
    }
    guard mustLinger, !peerIsDone else {
      phase = .closed
      return .close
    }
    phase = .lingering
    phaseAt = now
    return .shutdownWrite
  }

  private mutating func ignoreInput() {
    if consumed < bytes.count { mustLinger = true }
    input = .ignored
    (bytes, consumed) = ([], 0)
  }

  private mutating func refuse(_ error: RequestError) {
    let isHead = isReadingHead
    mustLinger = true
    ignoreInput()
    refusal = (
      error,
      expectResponse(isHead: isHead, version: .http11, conditions: nil, keepsAlive: false)
    )
  }

  /// Whether what came of a request says that it is a HEAD.
  private var isReadingHead: Bool {
    switch input {
    case .head: parser.isHead(bytes.span, from: consumed)
    case .body(let head, _): head.method == .head
    case .ignored: false
    }
  }

  private mutating func expectResponse(
    isHead: Bool, version: HTTPVersion, conditions: Preconditions?, keepsAlive: Bool
  ) -> UInt32 {
    let id = nextExchange
    nextExchange &+= 1
    waiting.append(
      Exchange(
        id: id, isHead: isHead, version: version, conditions: conditions, keepsAlive: keepsAlive,
        receivedAt: phaseAt, response: nil))
    return id
  }
}

// MARK: - Reading requests

extension ConnectionStateMachine {
  private mutating func readInput(at now: Moment) -> Action? {
    do throws(RequestError) {
      return try readRequest(at: now)
    } catch {
      refuse(error)
      return next(at: now)
    }
  }

  private mutating func readRequest(at now: Moment) throws(RequestError) -> Action? {
    defer { forgetConsumed() }
    if case .head = input {
      guard let head = try parseHead() else { return nil }
      phaseAt = now
      if head.framing == .none { return finish(head) }
      if isAnsweredUnread(head) { return finish(head, isRead: false) }
      input = .body(head, BodyDecoder(framing: head.framing, limits: settings.server.messageLimits))
    }
    guard case .body(let head, var decoder) = input else { return nil }
    if try decode(&decoder) { return finish(head) }
    input = .body(head, decoder)
    return nil
  }

  /// Whether a request is answered without its body, after which the connection ends.
  ///
  /// RFC 9110 §10.1.1: where the head alone says what the answer is, as here it always does, a
  /// client that waits gets that and no `100 Continue`. It may send the body nevertheless or not, so
  /// that nothing after it can be told from it.
  private func isAnsweredUnread(_ head: RequestHead) -> Bool {
    head.problem == .unsupportedExpectation || head.expectsContinue && consumed == bytes.count
  }

  // In both, the bytes are taken out for the time of the call: a span of a property is an access to
  // the whole structure.

  private mutating func parseHead() throws(RequestError) -> RequestHead? {
    let input = bytes
    var offset = consumed
    bytes = []
    defer { (bytes, consumed) = (input, offset) }
    return try parser.parse(input.span, from: &offset)
  }

  private mutating func decode(_ decoder: inout BodyDecoder) throws(RequestError) -> Bool {
    let input = bytes
    var offset = consumed
    bytes = []
    defer { (bytes, consumed) = (input, offset) }
    return try decoder.decode(input.span, from: &offset)
  }

  private mutating func finish(_ head: RequestHead, isRead: Bool = true) -> Action {
    input = .head
    let keepsAlive = head.keepsAlive && isRead
    let id = expectResponse(
      isHead: head.method == .head, version: head.version, conditions: Preconditions(head),
      keepsAlive: keepsAlive)
    // RFC 9112 §9.6: nothing after a request with `close` is a request.
    if !keepsAlive { ignoreInput() }
    if !isRead { mustLinger = true }
    if let problem = head.problem { return .refuse(problem, exchange: id) }
    return .dispatch(head, exchange: id)
  }

  private mutating func forgetConsumed() {
    guard consumed == bytes.count else { return }
    consumed = 0
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
  }
}
