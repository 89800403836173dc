import GRDBSQLite

/// A piece of an SQL text: https://www.sqlite.org/lang.html says what there is.
///
/// Enough to find the clauses of a SELECT and the functions that an expression calls. Whether the
/// text is right SQL is for SQLite to say; it has been prepared before anyone looks at its tokens.
package struct SQLToken: Equatable {
  package enum Kind {
    /// A keyword or a name without quotes.
    case word
    /// A name in "", [] or ``.
    case quotedName
    case string
    case number
    case parameter
    case symbol
  }

  package let kind: Kind
  package let text: Substring
  /// How many parentheses are open around it; a parenthesis counts as outside of itself.
  let depth: Int

  /// Whether this is the keyword, in whatever case.
  package func isWord(_ keyword: String) -> Bool {
    kind == .word && String(text).isSameIdentifier(as: keyword)
  }

  /// Whether it is a number that is an integer, and not too large for one:
  /// https://www.sqlite.org/lang_expr.html#literal_values_constants_
  var isInteger: Bool {
    guard kind == .number else { return false }
    let digits = text.filter { $0 != "_" }
    return digits.lowercased().hasPrefix("0x") || Int64(digits) != nil
  }

  /// Whether SQLite takes it for a keyword, though it may be a name where no keyword can stand.
  var isKeyword: Bool {
    guard kind == .word else { return false }
    let word = String(text)
    return sqlite3_keyword_check(word, Int32(word.utf8.count)) != 0
  }

  package func isSymbol(_ symbol: Character) -> Bool { kind == .symbol && text.first == symbol }

  /// The name without its quotes, or the text of a literal, which SQLite takes for a name where nothing else can stand.
  var nameOrText: String? {
    kind == .string ? String(text.dropFirst().dropLast()) : name
  }

  /// The name without its quotes; nil where the token is no name.
  package var name: String? {
    switch kind {
    case .word: return String(text)
    case .quotedName:
      let scalars = text.unicodeScalars
      guard let quote = scalars.first else { return nil }
      var inner = String.UnicodeScalarView()
      var isDoubled = false
      for scalar in scalars.dropFirst().dropLast() {
        isDoubled = scalar == quote && quote != "[" && !isDoubled
        if !isDoubled { inner.append(scalar) }
      }
      return String(inner)
    default: return nil
    }
  }
}

/// Cuts SQL into tokens; comments and white space are left out. O(n), n bytes.
///
/// By scalars, as SQLite does: a quotation mark with a combining mark behind it would be one
/// Character, and so would the end of a line.
package struct SQLTokens {
  package static func tokens(of sql: String) -> [SQLToken] {
    var scanner = SQLTokens(rest: sql.unicodeScalars[...])
    var tokens: [SQLToken] = []
    while let token = scanner.next() { tokens.append(token) }
    return tokens
  }

  /// The first token, behind comments and white space; nil: there is none.
  static func first(of sql: String) -> SQLToken? {
    var scanner = SQLTokens(rest: sql.unicodeScalars[...])
    return scanner.next()
  }

  private typealias Index = String.Index

  private var rest: Substring.UnicodeScalarView
  private var depth = 0

  private init(rest: Substring.UnicodeScalarView) { self.rest = rest }

  private mutating func next() -> SQLToken? {
    skipBlanks()
    guard let first = rest.first else { return nil }
    switch first {
    case "'": return take(.string, quoted(by: "'"))
    case "\"": return take(.quotedName, quoted(by: "\""))
    case "`": return take(.quotedName, quoted(by: "`"))
    case "[":
      return take(.quotedName, rest.firstIndex(of: "]").map(rest.index(after:)) ?? rest.endIndex)
    case "0"..."9": return take(.number, end { $0.isWordPart || $0 == "." })
    case ":", "@", "$", "?": return take(.parameter, end(from: 1) { $0.isWordPart })
    case _ where first.isWordPart: return takeWord()
    case "(":
      defer { depth += 1 }
      return take(.symbol, rest.index(after: rest.startIndex))
    case ")":
      depth -= 1
      return take(.symbol, rest.index(after: rest.startIndex))
    default: return take(.symbol, rest.index(after: rest.startIndex))
    }
  }

  /// A word, or a blob literal, which begins like one.
  private mutating func takeWord() -> SQLToken {
    if rest.first == "x" || rest.first == "X", rest.dropFirst().first == "'" {
      let end = rest.dropFirst(2).firstIndex(of: "'").map(rest.index(after:)) ?? rest.endIndex
      return take(.string, end)
    }
    return take(.word, end { $0.isWordPart })
  }

  private mutating func take(_ kind: SQLToken.Kind, _ end: Index) -> SQLToken {
    let token = SQLToken(kind: kind, text: Substring(rest[..<end]), depth: depth)
    rest = rest[end...]
    return token
  }

  private func end(from skipped: Int = 0, _ belongs: (Unicode.Scalar) -> Bool) -> Index {
    rest.dropFirst(skipped).firstIndex { !belongs($0) } ?? rest.endIndex
  }

  /// The end of a quoted piece, in which a doubled quote stands for one.
  private func quoted(by quote: Unicode.Scalar) -> Index {
    var index = rest.index(after: rest.startIndex)
    while index < rest.endIndex {
      let after = rest.index(after: index)
      if rest[index] == quote {
        guard after < rest.endIndex, rest[after] == quote else { return after }
        index = rest.index(after: after)
      } else {
        index = after
      }
    }
    return rest.endIndex
  }

  private mutating func skipBlanks() {
    while let first = rest.first {
      if first.isBlank {
        rest.removeFirst()
      } else if rest.starts(with: "--".unicodeScalars) {
        rest = rest.firstIndex(of: "\n").map { rest[$0...] } ?? rest[rest.endIndex...]
      } else if rest.starts(with: "/*".unicodeScalars) {
        skipComment()
      } else {
        return
      }
    }
  }

  private mutating func skipComment() {
    rest = rest.dropFirst(2)
    while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
    rest = rest.dropFirst(2)
  }
}

extension Unicode.Scalar {
  /// SQLite takes all that is not ASCII for letters.
  fileprivate var isWordPart: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: !isASCII
    }
  }

  fileprivate var isBlank: Bool {
    switch self {
    case " ", "\t", "\n", "\u{0C}", "\r": true
    default: false
    }
  }
}
