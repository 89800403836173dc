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
    return word.flatMap {
      WordPlaces(lines: lines).first($0, from: start, to: end(after: start))
    } ?? start
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
