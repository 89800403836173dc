import Foundation
import SeededRandom
import Testing

@testable import ServerSentEvents

/// Random streams, reproducible: `SSE_SEED=n` runs the rounds from seed n on, `SSE_ROUNDS=n` so
/// many of them.
@Suite struct RandomStreamTests {
  private static func number(_ name: String, _ otherwise: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? otherwise
  }

  private func eachRound(_ name: String, _ body: (inout SeededGenerator, UInt64) -> Bool) {
    let first = Self.number("SSE_SEED", UInt64.random(in: 0...(1 << 40)))
    let rounds = Self.number("SSE_ROUNDS", 2000)
    print("\(name): SSE_SEED=\(first) SSE_ROUNDS=\(rounds)")
    for seed in first..<(first + rounds) {
      var random = SeededGenerator(seed: seed)
      guard body(&random, seed) else { return }
    }
  }

  @Test func `what is written is parsed to the same`() {
    eachRound("round trip") { random, seed in
      let end = ["\n", "\r", "\r\n"][random.below(3)]
      var text = ""
      var expected: [ServerSentEvent] = []
      var lastEventID = ""
      for _ in 0..<random.below(5) {
        if random.below(3) == 0 { text += ":" + random.line() + end }
        let type = random.line()
        if random.below(2) == 0 { text += "event: " + random.line() + end }
        text += "event: " + type + end
        let id = random.line()
        text += "id: " + id + end
        // A NUL makes a parser ignore the whole field.
        if !id.utf8.contains(0) { lastEventID = id }
        let lines = (0...random.below(3)).map { _ in random.line() }
        for line in lines { text += "data: " + line + end }
        text += end
        expected.append(
          ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: lines.joined(separator: "\n"),
            lastEventID: lastEventID))
      }
      let events = Reading(everyWay: Array(text.utf8)).events
      #expect(events == expected, "SSE_SEED=\(seed) SSE_ROUNDS=1")
      return events == expected
    }
  }

  @Test func `any bytes read the same however they are divided`() {
    eachRound("mutator") { random, seed in
      let stream = random.stream()
      let limit = random.below(4) == 0 ? 40 : 1 << 20
      let whole = Reading([stream[...]], maximumEventSize: limit)
      let byteByByte = Reading(stream.indices.map { stream[$0...$0] }, maximumEventSize: limit)
      var chunks: [ArraySlice<UInt8>] = []
      var rest = stream[...]
      while !rest.isEmpty {
        chunks.append(rest.prefix(random.below(20)))
        rest = rest.dropFirst(chunks.last?.count ?? 0)
      }
      let divided = Reading(chunks, maximumEventSize: limit)
      let isSame = whole == byteByByte && whole == divided
      #expect(
        isSame,
        "SSE_SEED=\(seed) SSE_ROUNDS=1: \(stream)\n\(whole)\n\(byteByByte)\n\(divided)")
      return isSame
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  fileprivate mutating func line() -> String {
    let parts = ["\0", " ", ":", "a", "data: ", "id: 1", "é", "😀", "\u{FEFF}"]
    return (0..<below(8)).map { _ in parts[below(parts.count)] }.joined()
  }

  /// A stream of plausible pieces with some bytes changed, taken out or put in.
  fileprivate mutating func stream() -> [UInt8] {
    let pieces = [
      "data", "event", "id", "retry", ":", ": ", "\n", "\r", "\r\n", "\n\n", "12", "x", "\0", "é",
      "\u{FEFF}", "data: 1\n\n", "id: 7\n", "retry: 10\n",
    ]
    var bytes: [UInt8] = []
    for _ in 0..<below(30) { bytes += pieces[below(pieces.count)].utf8 }
    for _ in 0..<below(4) where !bytes.isEmpty {
      let place = below(bytes.count)
      switch below(3) {
      case 0: bytes[place] = UInt8(below(256))
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8(below(256)), at: place)
      }
    }
    return bytes
  }
}
