import Algorithms

extension Configuration {
  /// Where a part of a query stands; where it does not stand in the file, what is around it.
  ///
  /// A word of the part that a message is about, as in SQLite's `no such column: tema`, makes the
  /// position its own if it stands there.
  package func position(
    of query: String, _ part: Part, near word: String? = nil
  ) -> TextPosition {
    guard let start = positions[.query(query, part)] else {
      return part.enclosing.map { position(of: query, $0, near: word) } ?? .start
    }
    return word.flatMap { find($0, from: start, to: end(after: start)) } ?? start
  }

  /// Where a word of the file itself stands.
  package func position(of word: FileWord) -> TextPosition {
    positions[.file(word)] ?? .start
  }

  /// A problem that was found later than in reading, at its place in the file.
  package func problem(
    in query: String, _ part: Part, near word: String? = nil, _ message: String, mend: String? = nil
  ) -> ConfigurationProblem {
    ConfigurationProblem(
      file: file, position: position(of: query, part, near: word), message: message, mend: mend)
  }

  /// Where the next name or item begins: O(log b), b names and items in the file.
  private func end(after start: TextPosition) -> TextPosition {
    let next = boundaries.partitioningIndex { $0 > start }
    return next < boundaries.count
      ? boundaries[next] : TextPosition(line: lines.count + 1, column: 1)
  }

  /// Looks for a whole word.
  private func find(
    _ word: String, from start: TextPosition, to end: TextPosition
  ) -> TextPosition? {
    let sought = Array(word.unicodeScalars)
    guard let first = sought.first, let last = sought.last else { return nil }
    // libYAML, which counts the lines of a mark, knows breaks that YAML 1.2 has no more (NEL, LS).
    guard start.line <= lines.count else { return nil }
    for line in start.line...max(start.line, min(end.line, lines.count)) {
      var scalars = Array(lines[line - 1].unicodeScalars)
      if line == end.line { scalars = Array(scalars.prefix(end.column - 1)) }
      var index = line == start.line ? start.column - 1 : 0
      while index + sought.count <= scalars.count {
        let after = index + sought.count
        let isCut =
          (index > 0 && scalars[index - 1].isWordPart && first.isWordPart)
          || (after < scalars.count && scalars[after].isWordPart && last.isWordPart)
        if !isCut, scalars[index..<after].elementsEqual(sought) {
          return TextPosition(line: line, column: index + 1)
        }
        index += 1
      }
    }
    return nil
  }
}

extension Configuration.Part {
  fileprivate var enclosing: Self? {
    switch self {
    case .name: nil
    case .word: .name
    case .item(let word, _), .entry(let word, _): .word(word)
    case .itemOf(let word, let name, _): .entry(word, name)
    case .parameterDefault(let name): .entry(.parameters, name)
    }
  }
}

extension Unicode.Scalar {
  /// A part of an SQL identifier.
  fileprivate var isWordPart: Bool {
    properties.isAlphabetic || ("0"..."9").contains(self) || self == "_" || self == "$"
  }
}
