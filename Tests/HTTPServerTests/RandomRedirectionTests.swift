import Dispatch
import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import TestSupport
import Testing

/// Streams that are held, released, and redirected at random among some logs, while all of these
/// get units: each client sees exactly the stays that its stream had, and nothing of what was
/// appended after a hold.
@Suite struct RandomRedirectionTests {
  private static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 1500

  @Test func `a stream sees of each log a run of whole units, and none from after a hold`() throws {
    let seed = RandomSource.seed
    print("random redirections: DIDCHANGE_SEED=\(seed), \(Self.steps) steps")
    var random = RandomSource(seed: seed)
    let logs = ["a", "b", "c", "d"].map { NumberedLog($0) }
    let journeys = (0..<8).map { Journey(logs, number: $0, seed: seed) }
    let results = Mutex<[Int: [String]]>([:])
    try withServer(
      configure: { $0.eventLoops = 2 },
      handler: { request, responder in
        let number = Int(request.target.dropFirst()) ?? 0
        responder.respond(.ok, body: .stream(journeys[number].begin()))
      }
    ) { server in
      let group = DispatchGroup()
      for (number, journey) in journeys.enumerated() {
        DispatchQueue(label: "reading.\(number)").async(group: group) {
          do {
            let seen = try journey.read(from: server)
            results.withLock { $0[number] = seen }
          } catch {
            Issue.record("stream \(number), DIDCHANGE_SEED=\(seed): \(error)")
          }
        }
      }
      eventually { journeys.allSatisfy(\.hasBegun) }
      whileAppending(to: logs, threads: 3, largest: 300_000) {
        for _ in 0..<Self.steps {
          random.pick(journeys).step(&random)
          if random.once(in: 3) { pause() }
        }
        for journey in journeys { journey.finish() }
        group.wait()
      }
      eventually { server.server.statistics.streamsOpen == 0 }
    }
    #expect(journeys.contains { $0.stalls > 0 }, "no reader was slow; DIDCHANGE_SEED=\(seed)")
    for (number, journey) in journeys.enumerated() {
      journey.check(results.withLock { $0[number] } ?? [], afterSteps: Self.steps)
    }
  }
}

/// What happens to one stream.
private final class Journey: Sendable {
  /// A time with one log.
  private struct Stay {
    let log: NumberedLog
    let start: Int
    var prefix: String?
    var end: Int?
    /// The first unit that was appended while the stream was held, if it is.
    var limit: Int?
  }

  private struct State {
    var stays: [Stay] = []
    var random: RandomSource
    var mistakes: [String] = []
    var bodies = 0
    var ends = 0
    var stalls = 0
  }

  private let logs: [NumberedLog]
  private let number: Int
  private let seed: UInt64
  private let remote = StreamRemote()
  // Taken before the lock of a log.
  private let state: Mutex<State>

  init(_ logs: [NumberedLog], number: Int, seed: UInt64) {
    self.logs = logs
    self.number = number
    self.seed = seed
    state = Mutex(State(random: RandomSource(seed: seed &+ 1000 &+ UInt64(number))))
  }

  private var isSlow: Bool { number % 4 < 2 }

  /// How often the socket was full.
  var stalls: Int { state.withLock { $0.stalls } }

  var hasBegun: Bool { state.withLock { !$0.stays.isEmpty } }

  func begin() -> StreamBody { state.withLock { stay(&$0) } }

  func read(from server: TestServer) throws -> [String] {
    let reader = try UnitReader(
      server, number % 2 == 0 ? .http10 : .http11, target: "/\(number)",
      receiveBuffer: isSlow ? 4096 : nil)
    var seen: [String] = []
    while let name = try reader.next() {
      seen.append(name)
      if isSlow, seen.count % 2 == 0 { pause() }
    }
    return seen
  }

  /// Does something with the stream.
  func step(_ random: inout RandomSource) {
    switch random.number(0...5) {
    case 0, 1: call { self.remote.hold() }
    case 2:
      state.withLock { state in
        remote.release()
        state.stays[state.stays.count - 1].limit = nil
      }
    default: call { self.remote.redirect { self.answer(at: $0) } }
    }
  }

  func finish() {
    call {
      self.remote.redirect { position in
        self.state.withLock { self.end(&$0, at: position) }
        return .end(Array("bye;".utf8))
      }
    }
  }

  /// Holds the stream by a call, and notes which unit is the first that it must not show.
  private func call(_ hold: () -> Void) {
    state.withLock { state in
      let last = state.stays.count - 1
      let count = state.stays[last].log.count(hold)
      state.stays[last].limit = min(state.stays[last].limit ?? count, count)
    }
  }

  /// On the stream's loop.
  private func answer(at position: Broadcast.Position) -> StreamRemote.Redirection {
    state.withLock { state in
      if state.random.once(in: 5) {
        state.stays[state.stays.count - 1].limit = nil
        return .goOn
      }
      end(&state, at: position)
      return .stream(stay(&state))
    }
  }

  private func end(_ state: inout State, at position: Broadcast.Position) {
    let last = state.stays.count - 1
    let stay = state.stays[last]
    guard let end = stay.log.number(at: position) else {
      return state.mistakes.append("stay \(last): \(position) is between no units")
    }
    state.stays[last].end = end
    if let limit = stay.limit, end > max(limit, stay.start) {
      state.mistakes.append("stay \(last): at \(end), but held at \(limit)")
    }
  }

  private func stay(_ state: inout State) -> StreamBody {
    let log = state.random.pick(logs)
    let count = log.count()
    let start = max(0, count - state.random.number(0...5))
    let prefix = state.random.once(in: 2) ? nil : "stay \(state.stays.count)"
    state.stays.append(Stay(log: log, start: start, prefix: prefix))
    state.bodies += 1
    return StreamBody(
      prefix: prefix.map { pieces([$0 + ";"]) }, broadcast: log.broadcast,
      position: log.position(of: start),
      onStall: { [self] _ in self.state.withLock { $0.stalls += 1 } },
      onEnd: { [self] in self.state.withLock { $0.ends += 1 } }, remote: remote)
  }

  /// Compares what the client saw with the stays, of which there are some for each of the steps.
  func check(_ seen: [String], afterSteps steps: Int) {
    let replay = "stream \(number), DIDCHANGE_SEED=\(seed)"
    state.withLock { state in
      #expect(state.mistakes.isEmpty, "\(state.mistakes); \(replay)")
      #expect(state.ends == state.bodies, "\(state.ends) of \(state.bodies) ended; \(replay)")
      #expect(state.stays.count > steps / 150, "\(state.stays.count) stays; \(replay)")
      #expect(seen.count > state.stays.count, "\(seen.count) pieces; \(replay)")
      var expected: [String] = []
      for stay in state.stays {
        expected += stay.prefix.map { [$0] } ?? []
        expected += stay.log.names(stay.start..<max(stay.start, stay.end ?? 0))
      }
      expected.append("bye")
      let same = zip(seen, expected).prefix { $0 == $1 }.count
      #expect(
        seen == expected,
        """
        after \(same) pieces \(seen.dropFirst(same).prefix(5)), not \
        \(expected.dropFirst(same).prefix(5)); \(replay)
        """)
    }
  }
}
