/// Why a definition is refused, and where.
package struct QueryProblem: Error, Sendable, Equatable {
  /// What is wrong, where those who write definitions in a language of their own know it by another
  /// name.
  package enum Kind: Sendable {
    /// A bare `?`.
    case unnamedParameter
    /// The SQL has a parameter that the definition does not declare.
    case undeclaredParameter
    /// Anything else; the message says what.
    case other
  }

  package let kind: Kind
  package let part: QueryPart
  package let message: String
  /// What to do about it.
  package let mend: String
  /// The word that SQLite or the query does not know, if that is the problem.
  package let unknownWord: String?
  /// Words that would have been right in its place.
  package let knownWords: [String]

  init(
    _ kind: Kind = .other, part: QueryPart, message: String, mend: String,
    unknownWord: String? = nil, knownWords: [String] = []
  ) {
    self.kind = kind
    self.part = part
    self.message = message
    self.mend = mend
    self.unknownWord = unknownWord
    self.knownWords = knownWords
  }
}

extension QueryProblem {
  /// The same of the definition that an ordered one was made of.
  func of(_ order: QueryDefinition.Order) -> QueryProblem {
    guard case .ordering(let index) = part else { return self }
    return QueryProblem(
      kind, part: .orderingOf(order.name, index), message: message, mend: mend,
      unknownWord: unknownWord, knownWords: knownWords)
  }
}

/// All the problems of one definition.
package struct QueryProblems: Error, Sendable {
  /// The definition's name.
  package let query: String
  package let problems: [QueryProblem]
}
