/// What is to be called where a client goes away before its answer is there.
struct Abandonments {
  /// By the numbers of their exchanges; few, because only what takes long is in here.
  private var bodies: [UInt32: @Sendable () -> Void] = [:]

  mutating func add(_ body: @escaping @Sendable () -> Void, for exchange: UInt32) {
    bodies[exchange] = body
  }

  /// The answer is there.
  mutating func remove(_ exchange: UInt32) {
    if !bodies.isEmpty { bodies[exchange] = nil }
  }

  mutating func takeAll() -> [@Sendable () -> Void] {
    if bodies.isEmpty { return [] }
    defer { bodies = [:] }
    return Array(bodies.values)
  }
}

extension Connection {
  /// Notes what to call where the client goes away before this exchange has its answer.
  func whenAbandoned(_ exchange: UInt32, _ body: @escaping @Sendable () -> Void) {
    guard !isClosed, machine.isWaiting(for: exchange) else { return }
    if machine.peerIsDone { return body() }
    abandonments.add(body, for: exchange)
  }

  /// The client has closed the connection, or its own half of it: those who only closed their half
  /// are answered what is at hand, but nothing long is done for them.
  func noteAbandonment() {
    for body in abandonments.takeAll() { body() }
  }
}
