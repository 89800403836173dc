/// The name of a kind of event, fit for one `event:` line.
package struct EventType: Sendable, Hashable {
  /// The whole line: it is the same for each of thousands of events.
  let line: [UInt8]

  /// A name from anywhere; nil: it is empty, or would end its line.
  ///
  /// An empty name is refused because a parser takes it for `message` (WHATWG HTML §9.2.6).
  package init?(checking name: String) {
    guard !name.isEmpty, Self.fitsOneLine(name) else { return nil }
    line = Array("event: \(name)\n".utf8)
  }

  static func fitsOneLine(_ text: String) -> Bool {
    !text.utf8.contains { $0 == LineScanner.lineFeed || $0 == LineScanner.carriageReturn }
  }
}

extension EventType: ExpressibleByStringLiteral {
  package init(stringLiteral name: StaticString) {
    guard let type = EventType(checking: name.description) else {
      preconditionFailure("\(name) does not fit an event: line")
    }
    self = type
  }
}
