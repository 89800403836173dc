import Foundation
package import OrderedResults

/// Names one state of one query's results: `<state>.<number>` (`protocol.md` §5).
package struct ResultsVersion: Sendable, Hashable, CustomStringConvertible {
  /// Names the content: the same at every server that shows it.
  package let state: String
  /// Grows by one with each change set of this server, and means nothing to another.
  package let number: Int
  /// Written once: every change set is told with it several times.
  package let description: String

  package init(state: String, number: Int) {
    self.state = state
    self.number = number
    // Not as an interpolation, which takes five times as long.
    let digits = String(number)
    let length = state.utf8.count + 1 + digits.utf8.count
    description = String(unsafeUninitializedCapacity: length) { text in
      let point = text.initialize(fromContentsOf: state.utf8)
      text.initializeElement(at: point, to: UInt8(ascii: "."))
      return text[(point + 1)...].initialize(fromContentsOf: digits.utf8)
    }
  }

  /// The state in the text of a version, or in whatever a client says is one.
  package static func state(in text: String) -> Substring {
    text.utf8.lastIndex(of: UInt8(ascii: ".")).map { text[..<$0] } ?? text[...]
  }

  /// Whether a client that has this version has what this one names.
  package func names(_ text: String) -> Bool { Self.state(in: text) == state }

  /// The first number of a live result: seconds since 1970, so that what a cache may have from an
  /// earlier life of the server has another.
  package static var firstNumber: Int { Int(Date().timeIntervalSince1970) }

  /// Of several states together, in their order.
  package static func joined(
    _ states: [ResultsVersion], number: Int, key: DigestKey = .standard
  ) -> ResultsVersion {
    var digest = RunDigest()
    for state in states { digest.append(key.digest(of: state.state)) }
    digest.append(key.digest(of: String(states.count)))
    return ResultsVersion(state: digest.text, number: number)
  }
}
