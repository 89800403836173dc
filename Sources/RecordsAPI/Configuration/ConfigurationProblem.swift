/// A place in a text: both counted from 1, the column in Unicode scalars, as editors count.
package struct TextPosition: Sendable, Hashable, Comparable {
  package var line: Int
  package var column: Int

  package static let start = TextPosition(line: 1, column: 1)

  package static func < (first: Self, second: Self) -> Bool {
    (first.line, first.column) < (second.line, second.column)
  }
}

/// One thing that is wrong with a configuration: where, what, and how to mend it.
package struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// As the user named it; nil where the command line is meant.
  package var file: String?
  package var position: TextPosition
  package var message: String
  /// What to do, where that is known.
  package var mend: String?

  /// `file:line:column: message; mend`, which editors and terminals turn into a link; one line,
  /// whatever is in the file.
  package var description: String {
    let place =
      file.map { "\($0):\(position.line):\(position.column): \(message)" } ?? message
    return (mend.map { "\(place); \($0)" } ?? place).showingControls()
  }
}

/// Everything that is wrong with a configuration, in the order of the file.
package struct ConfigurationProblems: Error, Sendable, Equatable, CustomStringConvertible {
  package let problems: [ConfigurationProblem]

  package init(_ problems: [ConfigurationProblem]) {
    let order = problems.enumerated().sorted {
      ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
    }
    self.problems = order.map(\.element)
  }

  /// So many are shown: a script that writes configurations makes one slip in every query, and
  /// nobody reads further.
  static let mostShown = 100

  /// One problem a line, the first ones, and how many more there are.
  package var description: String {
    var lines = problems.prefix(Self.mostShown).map(\.description)
    let rest = problems.count - lines.count
    if rest > 0 { lines.append("… and \(rest) more problem\(rest == 1 ? "" : "s")") }
    return lines.joined(separator: "\n")
  }
}
