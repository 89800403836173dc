import FetchedRecords
import Foundation
import HTTP1
import HTTPServer
import Yams

// How the server treats its clients: limits, time-outs, hosts, other origins, proxies, the access log.
extension ConfigurationReader {
  mutating func readLimits(_ node: Node) {
    for (word, value) in read(node, as: LimitWord.self, what: "`limits`") ?? [] {
      let (path, range) = word.setting
      let number =
        word.isOfBytes
        ? size(value, "`\(word.rawValue)`", in: range)
        : integer(value, "`\(word.rawValue)`", in: range)
      if let number { configuration[keyPath: path] = number }
    }
  }

  mutating func readTimeouts(_ node: Node) {
    for (word, value) in read(node, as: TimeoutWord.self, what: "`timeouts`") ?? [] {
      let (path, range) = word.setting
      if let duration = duration(value, "`\(word.rawValue)`", in: range) {
        configuration[keyPath: path] = duration
      }
    }
  }

  mutating func readCaches(_ node: Node) {
    for (word, value) in read(node, as: CacheWord.self, what: "`caches`") ?? [] {
      let (path, range) = word.setting
      if let duration = duration(value, "`\(word.rawValue)`", in: range) {
        configuration[keyPath: path] = duration
      }
    }
  }

  mutating func crossOrigin(_ node: Node) -> CrossOrigin? {
    if node.scalar?.string == "*" { return .everyone }
    return list(node, "`cors`", checking: CrossOrigin.flaw).map { .origins(Set($0)) }
  }

  mutating func hosts(_ node: Node) -> HostNames? {
    list(node, "`hosts`", checking: HostNames.flaw).map { HostNames($0) }
  }

  private mutating func list(
    _ node: Node, _ what: String, checking flaw: (String) -> Flaw?
  ) -> [String]? {
    guard let items = list(node, what) else { return nil }
    for item in items {
      if let flaw = flaw(item.text) { note(item.node.position, flaw, of: what) }
    }
    return items.map(\.text)
  }

  mutating func proxies(_ node: Node) -> [AddressRange] {
    (list(node, "`proxies`") ?? []).compactMap { item in
      if let range = AddressRange(item.text) { return range }
      note(
        item.node.position, "`proxies`: \"\(item.text)\" is no address",
        mend: "write for example 127.0.0.1, 10.0.0.0/8, ::1, or unix")
      return nil
    }
  }

  mutating func accessLog(_ node: Node) -> AccessLogFormat? {
    guard let text = text(node, "`accessLog`") else { return nil }
    do {
      return try AccessLogFormat(text)
    } catch {
      note(node.position, error, of: "`accessLog`")
      return nil
    }
  }

  private mutating func integer(_ node: Node, _ what: String, in range: ClosedRange<Int>) -> Int? {
    if case .scalar(let scalar) = node, case .integer(let value) = YAMLScalar(scalar),
      range.contains(Int(value))
    {
      return Int(value)
    }
    note(
      node.position, "\(what) is \(node.kind), not an integer that makes sense",
      mend: "write one from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// A number of bytes, or a number with its unit: `256MiB`, `1.5GB`.
  private mutating func size(_ node: Node, _ what: String, in range: ClosedRange<Int>) -> Int? {
    if let bytes = node.bytes, range.contains(bytes) { return bytes }
    note(
      node.position, "\(what) is \(node.kind), not a number of bytes that makes sense",
      mend: "write one from \(range.lowerBound) to \(range.upperBound), or with a unit, as 256MiB")
    return nil
  }

  /// A number of seconds, or a number with its unit: `10s`, `500ms`, `2m`, `1h`.
  private mutating func duration(
    _ node: Node, _ what: String, in range: ClosedRange<Double>
  ) -> Duration? {
    if let seconds = node.seconds, range.contains(seconds) { return .seconds(seconds) }
    note(
      node.position, "\(what) is no time that makes sense",
      mend: "write 10s, 500ms or 2m, from \(range.lowerBound.short)s to \(range.upperBound.short)s")
    return nil
  }
}

extension Node {
  fileprivate var seconds: Double? {
    guard case .scalar(let scalar) = self else { return nil }
    switch YAMLScalar(scalar) {
    case .integer(let value): return Double(value)
    case .real(let value): return value
    case .text(let text):
      guard let match = text.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h)/) else { return nil }
      let units = ["ms": 0.001, "s": 1, "m": 60, "h": 3600]
      return Double(match.1).flatMap { number in units[String(match.2)].map { number * $0 } }
    case .null, .boolean, .hugeInteger: return nil
    }
  }
}

extension Node {
  /// By the units of IEC 80000-13: a kB has 1000 bytes, a KiB 1024.
  fileprivate var bytes: Int? {
    guard case .scalar(let scalar) = self else { return nil }
    switch YAMLScalar(scalar) {
    case .integer(let value): return Int(value)
    case .text(let text):
      let pattern = /([0-9]+(?:\.[0-9]+)?) ?([kKMGT])?(i)?B/
      guard let match = text.wholeMatch(of: pattern), let number = Double(match.1) else {
        return nil
      }
      let prefixes = ["k": 1, "K": 1, "M": 2, "G": 3, "T": 4]
      let power = match.2.flatMap { prefixes[String($0)] } ?? 0
      if power == 0, match.3 != nil { return nil }
      let unit = (0..<power).reduce(1) { unit, _ in unit * (match.3 == nil ? 1000 : 1024) }
      return Int(exactly: (number * Double(unit)).rounded())
    case .real, .null, .boolean, .hugeInteger: return nil
    }
  }
}

extension Double {
  fileprivate var short: String {
    self == rounded() ? String(Int(self)) : String(self)
  }
}
