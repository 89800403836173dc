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

  @Test func `what is encoded is parsed to the same`() {
    eachRound("round trip") { random, seed in
      var encoder = EventEncoder()
      var expected: [ServerSentEvent] = []
      var lastEventID = ""
      for _ in 0..<random.below(5) {
        if random.below(3) == 0 { encoder.append(comment: random.text()) }
        let type = EventType(checking: random.text())
        if let type { encoder.append(type: type) }
        let idText = random.text()
        if let id = EventID(idText) {
          encoder.append(id: id)
          lastEventID = idText
        }
        let data = random.text()
        encoder.append(data: data.utf8)
        encoder.endEvent()
        expected.append(
          ServerSentEvent(
            type: type.map { String(decoding: $0.line.dropFirst(7).dropLast(), as: UTF8.self) }
              ?? "message",
            data: Self.withLineFeeds(data),
            lastEventID: lastEventID))
      }
      let events = Reading(everyWay: encoder.bytes).events
      #expect(events == expected, "SSE_SEED=\(seed) SSE_ROUNDS=1")
      return events == expected
    }
  }

  /// By bytes: to Swift CR and LF together are one character, which has neither in it.
  private static func withLineFeeds(_ text: String) -> String {
    var lines: [UInt8] = []
    var last: UInt8 = 0
    for byte in text.utf8 {
      if byte == 13 || (byte == 10 && last != 13) { lines.append(10) }
      if byte != 13 && byte != 10 { lines.append(byte) }
      last = byte
    }
    return String(decoding: lines, as: UTF8.self)
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

  fileprivate mutating func text() -> String {
    let parts = ["\n", "\r", "\r\n", "\0", " ", ":", "a", "data: ", "id: 1", "é", "😀", "\u{FEFF}"]
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
