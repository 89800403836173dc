import Foundation
import HTTP1
import HTTPServer
import HTTPTypes
import JSON

/// How an exchange is written into the access log: a line with `{words}` in it, or JSON.
package enum AccessLogFormat: Sendable, Equatable {
  case json
  /// Texts and words in turn.
  case line([Part])

  package enum Part: Sendable, Equatable {
    case text(String)
    case word(Word, Quoting)
  }

  /// What a value at its place in the line must not contain, so that it stays one field.
  package enum Quoting: Sendable, Equatable {
    /// Between quotation marks, or the server's own words: no quotation marks.
    case quoted
    /// No space, and nothing of what ends a field in this line.
    case unquoted(ends: [UInt8])
  }

  /// What a line can say.
  package enum Word: String, Sendable, CaseIterable {
    case time, client, method, target, version, scheme, status, bytes, seconds, route, referer
    case agent, caller, event
  }

  /// Reads `json`, `line` or a line of one's own.
  ///
  /// - Throws: what is wrong, where it is neither.
  package init(_ text: String) throws(Flaw) {
    self = text == "json" ? .json : .line(try Self.parts(text == "line" ? Self.standard : text))
  }

  private static let standard =
    "{time} {client} \"{method} {target} {version}\" {status} {bytes} {seconds} \"{agent}\" {event}"

  private static func parts(_ text: String) throws(Flaw) -> [Part] {
    var parts: [Part] = []
    var rest = text[...]
    let words = Word.allCases.map(\.rawValue)
    while let open = rest.firstIndex(of: "{") {
      let name = rest[rest.index(after: open)...].prefix { $0 != "}" }
      guard let word = Word(rawValue: String(name)) else {
        let near = NearestWord.find(String(name), among: words).map { "did you mean {\($0)}?" }
        throw Flaw(
          "{\(name)} is no word of an access log",
          mend: near ?? "the words are \(words.joined(separator: ", "))")
      }
      parts.append(.text(String(rest[..<open])))
      parts.append(.word(word, .quoted))
      rest = rest[name.endIndex...].dropFirst()
    }
    guard !parts.isEmpty else {
      throw Flaw(
        "\"\(text)\" has no {word} in it",
        mend: "write json, line, or a line with words such as {method} and {status}")
    }
    return placed(parts + [.text(String(rest))])
  }

  /// Finds out which words stand between quotation marks, and what ends the others.
  private static func placed(_ parts: [Part]) -> [Part] {
    var ends = [UInt8(ascii: " ")]
    for case .text(let text) in parts.dropFirst() {
      // Letters and digits separate nothing, and without them nobody could read a value.
      if let first = text.utf8.first, !first.isLetter, !first.isDigit, !ends.contains(first) {
        ends.append(first)
      }
    }
    var isQuoted = false
    return parts.map { part in
      switch part {
      case .text(let text):
        if !text.count(where: { $0 == "\"" }).isMultiple(of: 2) { isQuoted.toggle() }
        return part
      case .word(let word, _):
        return .word(word, isQuoted || word.isServers ? .quoted : .unquoted(ends: ends))
      }
    }
  }

  /// Whether a line tells the beginning of a stream from its end.
  var tellsBeginnings: Bool {
    guard case .line(let parts) = self else { return true }
    return parts.contains { if case .word(.event, _) = $0 { true } else { false } }
  }

  /// One line without its end.
  func text(of exchange: FinishedExchange, at date: Date) -> String {
    switch self {
    case .line(let parts):
      parts.map { part in
        switch part {
        case .text(let text): text
        case .word(let word, let place): Self.escaped(word.value(of: exchange, at: date), place)
        }
      }.joined()
    case .json: Self.json(exchange, at: date)
    }
  }

  private static func json(_ exchange: FinishedExchange, at date: Date) -> String {
    var json = JSONWriter()
    json.object { json in
      for word in Word.allCases {
        guard let text = word.value(of: exchange, at: date) else { continue }
        json.name(word.rawValue)
        if word.isNumber { json.number(text) } else { json.string(text) }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Clients write targets and agents: none may end a line, a quotation or a field, or move a
  /// terminal's cursor. What is not there is `-`, and so is what a field without quotation marks
  /// could not show.
  private static func escaped(_ text: String?, _ quoting: Quoting) -> String {
    guard let text else { return "-" }
    var ends: [UInt8] = []
    if case .unquoted(let bytes) = quoting {
      if text.isEmpty { return "-" }
      ends = bytes
    }
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7F...,
        _ where ends.contains(byte):
        result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      default: result.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return result
  }
}

extension AccessLogFormat.Word {
  fileprivate var isNumber: Bool { [.status, .bytes, .seconds].contains(self) }

  /// Whether its values are the server's own words, which no client chooses.
  fileprivate var isServers: Bool {
    isNumber || [.time, .version, .route, .event].contains(self)
  }

  fileprivate func value(of exchange: FinishedExchange, at date: Date) -> String? {
    switch self {
    case .time: date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    case .client: exchange.client
    case .method: exchange.request?.method.rawValue
    case .target: exchange.request.map { AccessToken.hidden(in: $0.target) }
    case .version: exchange.request.map { $0.version == .http10 ? "HTTP/1.0" : "HTTP/1.1" }
    case .scheme: exchange.request?.scheme
    case .status: "\(exchange.status)"
    case .bytes: "\(exchange.bytes)"
    case .seconds: exchange.seconds
    case .route: exchange.route?.name
    case .referer: exchange.request?.referer.map(AccessToken.hidden)
    case .agent: exchange.request?.userAgent
    case .caller: exchange.caller
    case .event: exchange.phase == .whole ? nil : exchange.phase.rawValue
    }
  }
}

extension FinishedExchange {
  /// In microseconds' precision.
  fileprivate var seconds: String {
    let (seconds, attoseconds) = duration.components
    let fraction = String(attoseconds / 1_000_000_000_000)
    return "\(seconds)." + String(repeating: "0", count: 6 - fraction.count) + fraction
  }
}
