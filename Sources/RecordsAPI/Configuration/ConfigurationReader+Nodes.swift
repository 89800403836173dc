import Yams

/// Typed access: each function notes what is wrong and returns nil then.
extension ConfigurationReader {
  /// The words of a mapping, of which each stands there once; unknown ones are noted.
  mutating func read<Word: ConfigurationWord>(
    _ node: Node, as: Word.Type, what: String
  ) -> [(word: Word, value: Node)]? {
    let example = "write WORD: VALUE, with the words \(Word.listed)"
    guard case .mapping(let mapping) = node else {
      note(node.position, "\(what) is \(node.kind), not a mapping", mend: example)
      return nil
    }
    return unique(mapping).compactMap { name, key, value in
      guard let word = Word(rawValue: name) else {
        note(
          key.position, "\"\(name)\" is not a word of \(Word.owner)", mend: mend(name, Word.self))
        return nil
      }
      return (word, value)
    }
  }

  private func mend<Word: ConfigurationWord>(_ name: String, _ words: Word.Type) -> String {
    if words == FileWord.self, QueryWord(rawValue: name) != nil {
      return "indent it below the name of a query in \"queries:\""
    }
    return Word.nearest(to: name).map { "did you mean \"\($0.rawValue)\"?" }
      ?? "the words are \(Word.listed)"
  }

  /// The entries of a mapping whose names are the user's own.
  mutating func entries(
    _ node: Node, _ what: String, example: String
  ) -> [(name: String, key: Node, value: Node)]? {
    guard case .mapping(let mapping) = node else {
      note(node.position, "\(what) is \(node.kind), not a mapping", mend: "write \(example)")
      return nil
    }
    guard !mapping.isEmpty else {
      note(node.position, "\(what) is empty", mend: "write \(example), or leave the word out")
      return nil
    }
    return unique(mapping)
  }

  /// A truth value.
  mutating func truth(_ node: Node, _ what: String) -> Bool? {
    if case .scalar(let scalar) = node, case .boolean(let value) = YAMLScalar(scalar) {
      return value
    }
    note(node.position, "\(what) is \(node.kind), not a truth value", mend: "write true or false")
    return nil
  }

  /// A list of texts that are not empty.
  mutating func list(_ node: Node, _ what: String) -> [(text: String, node: Node)]? {
    guard case .sequence(let sequence) = node else {
      let example = node.scalar.map { "write [\($0.string)]" } ?? "write [A, B]"
      note(node.position, "\(what) is \(node.kind), not a list", mend: example)
      return nil
    }
    guard !sequence.isEmpty else {
      note(node.position, "\(what) is empty", mend: "name at least one, or leave the word out")
      return nil
    }
    configuration.boundaries += sequence.map(\.position)
    return sequence.compactMap { item in text(item, "an item of \(what)").map { ($0, item) } }
  }

  /// A text that is not empty.
  mutating func text(_ node: Node, _ what: String) -> String? {
    guard case .scalar(let scalar) = node, case .text(let text) = YAMLScalar(scalar) else {
      note(node.position, "\(what) is \(node.kind), not text", mend: quoted(node))
      return nil
    }
    guard !text.utf8.contains(0) else {
      note(
        node.position, "\(what) contains a NUL character, where the system and SQLite would end it",
        mend: "take the character out")
      return nil
    }
    guard text.contains(where: { !$0.isWhitespace }) else {
      note(node.position, "\(what) is empty", mend: "write a value, or leave the word out")
      return nil
    }
    return text
  }

  /// How a scalar has to be written in order to be text.
  func quoted(_ node: Node) -> String? {
    node.scalar.flatMap { $0.string.isEmpty ? nil : "put it in quotes: \"\($0.string)\"" }
  }

  private mutating func unique(
    _ mapping: Node.Mapping
  ) -> [(name: String, key: Node, value: Node)] {
    var lines: [String: Int] = [:]
    var result: [(name: String, key: Node, value: Node)] = []
    for (name, key, value) in tree.entries(mapping) {
      configuration.boundaries.append(key.position)
      guard let name else {
        note(key.position, "a name is \(key.kind), not text")
        continue
      }
      if let line = lines[name] {
        note(
          key.position, "\"\(name)\" is there twice, first on line \(line)",
          mend: "keep one of the two")
        result.removeAll { $0.name == name }
      }
      lines[name] = key.position.line
      result.append((name, key, value))
    }
    return result
  }
}
