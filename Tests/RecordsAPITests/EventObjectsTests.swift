import Foundation
import JSON
import ServerSentEvents
import TestSupport
import Testing

@testable import RecordsAPI

/// `SSE_SEED=n` runs the rounds from seed n on.
@Suite struct `Events as objects` {
  private struct Made {
    var text = ""
    /// Nil: a comment.
    var events: [(name: String, id: String?, data: String)?] = []
    /// As lines, ids without an event among them.
    var lines = ""

    mutating func add(_ name: String, _ id: String?, _ data: String) {
      text += "event: \(name)\n" + (id.map { "id: \($0)\n" } ?? "") + "data: \(data)\n\n"
      events.append((name, id, data))
      let member = id.map { ",\"id\":\(`Events as objects`.json($0))" } ?? ""
      lines += "{\"event\":\"\(name)\"\(member),\"data\":\(data)}\n"
    }
  }

  private enum Pieces: CaseIterable { case whole, bytes, any }

  private func convert(
    _ bytes: [UInt8], _ form: EventObjects.Form, cutting pieces: Pieces,
    _ random: inout RandomSource
  ) -> (text: String, first: String?) {
    var objects = EventObjects(form)
    var output: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count =
        switch pieces {
        case .whole: rest.count
        case .bytes: 1
        case .any: random.number(1...9)
        }
      objects.append(Array(rest.prefix(count)), to: &output)
      rest = rest.dropFirst(count)
    }
    return (String(decoding: output, as: UTF8.self), objects.first)
  }

  fileprivate static func json(_ text: String) -> String {
    var json = JSONWriter()
    json.string(text)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private func made(_ random: inout RandomSource) -> Made {
    var made = Made()
    for _ in 0..<random.number(0...5) {
      switch random.number(0...6) {
      case 0:
        made.text += ": heartbeat\n\n"
        made.lines += "\n"
        made.events.append(nil)
      case 1: made.text += "retry: \(random.number(0...2999))\n\n"
      case 2:
        made.text += "id: a.2\n\n"
        made.lines += "{\"id\":\"a.2\"}\n"
      default:
        let data = Self.json(
          ["", "data: ", "\n\nevent: x\n", "é🎈", "\"}\\", String(repeating: "a", count: 300)][
            random.number(0...5)])
        made.add(
          ["snapshot", "change", "fetchError", "recovered"][random.number(0...3)],
          [nil, "a.1", "", "\"\\"][random.number(0...3)], "{\"a\":\(data)}")
      }
    }
    return made
  }

  @Test func `are the same however the bytes are divided`() throws {
    let first =
      ProcessInfo.processInfo.environment["SSE_SEED"].flatMap { UInt64($0) }
      ?? .random(in: 0...(1 << 40))
    print("events as objects: SSE_SEED=\(first)")
    for seed in first..<(first + 500) {
      var random = RandomSource(seed: seed)
      let made = made(&random)
      let told = made.events.compactMap { $0 }.filter {
        $0.name != "fetchError" && $0.name != "recovered"
      }
      let elements = told.map { "{\"event\":\"\($0.name)\",\"data\":\($0.data)}" }
        .joined(separator: ",")
      let bytes = Array(made.text.utf8)
      for pieces in Pieces.allCases {
        let whole = convert(bytes, .lines, cutting: pieces, &random)
        #expect(whole.text == made.lines, "SSE_SEED=\(seed)")
        let array = convert(bytes, .elements, cutting: pieces, &random)
        #expect(array.text == elements, "SSE_SEED=\(seed)")
        #expect(array.first == told.first?.name, "SSE_SEED=\(seed)")
      }
      // And what another reader makes of the same bytes.
      var parser = EventParser()
      var parsed: [String] = []
      try parser.parse(bytes) { parsed.append($0.data) }
      #expect(parsed == made.events.compactMap { $0?.data }, "SSE_SEED=\(seed)")
    }
  }
}
