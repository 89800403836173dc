import OrderedResults

extension UnionAnalysis: OrderedAnalysis {
  mutating func term(_ term: RecordOrder.Term) throws -> RecordOrder.Term {
    let encoding = arms[0].analysis.encoding
    guard encoding != .utf8, term.collation == .binary else { return term }
    let lostBytes = try arms.map { arm in
      guard let expression = arm.analysis.expression(ofColumn: term.column) else {
        throw NotIncremental(reason: "what * stands for is not certain")
      }
      return TextEncoding.lostBytes(of: expression)
    }
    var term = term
    term.utf16 = UTF16Order(
      isBigEndian: encoding == .utf16BigEndian,
      lostBytes: add("didchange bytes \(list.count)", lostBytes))
    return term
  }

  /// A number, or an alias or a column of the first SELECT; SQLite also looks for other expressions, one SELECT
  /// after the other. A SELECT over the whole may order by anything, and so may a FULL JOIN.
  func position(ofOrder term: OrderTerm) throws -> Int {
    if kind == .fullJoin,
      let position = FullJoin.column(ofOrder: term, of: arms[0].analysis.candidate.syntax, list)
    {
      return position
    }
    if let position = list.position(ofOrder: term) {
      let first = arms[0].analysis
      let isNumber = SQLTokens.tokens(of: term.expression).first?.kind == .number
      if isNumber || distributed != nil || first.select.sources.count == 1
        || first.items?[position].alias != nil
      {
        return position
      }
    }
    if distributed == nil, kind != .fullJoin,
      let position = arms[0].analysis.position(showing: term.expression)
    {
      return position
    }
    if distributed != nil || kind == .fullJoin,
      let hidden = list.hidden.firstIndex(of: term.expression.withoutTextInQuotationMarks)
    {
      return names.count + hidden
    }
    throw NotIncremental(
      reason: """
        \(kind.rawValue) orders by \(term.expression), which is no column of its first SELECT: write the number \
        of a column, or an alias
        """)
  }

  // MARK: - Collations

  /// It is that of the first SELECT whose column has one: each column of a table has but its rowid, and no
  /// literal. Where it is not known whether one has, all have to agree.
  func collation(ofColumn column: Int, written: String? = nil) throws -> Collation {
    var undecided: [Collation] = []
    for arm in arms where !arm.hasNoCollation(column) {
      undecided.append(try arm.collation(ofColumn: column, written: written))
      if let origin = arm.analysis.origin(ofColumn: column), arm.isOfTable(origin) { break }
    }
    let first =
      try undecided.first
      ?? arms[0].analysis.collation(ofColumn: column, written: written ?? "BINARY")
    guard undecided.allSatisfy({ $0 == first }) else {
      throw NotIncremental(
        reason: "the collation of \(name(ofColumn: column)) is not known: write COLLATE")
    }
    guard !isDistinct || first == .binary else {
      throw NotIncremental(
        reason: """
          \(name(ofColumn: column)) is compared under \(first.rawValue), under which UNION takes values for \
          equal that look different, and which of them it shows is not certain
          """)
    }
    return first
  }

  private func name(ofColumn column: Int) -> String {
    column < names.count ? names[column] : list.hidden[column - names.count]
  }
}

extension IncrementalAnalysis {
  /// The first visible column that shows the table's column of this name; nil: none does, or not certainly.
  fileprivate func position(showing name: String) -> Int? {
    guard let column = shown.origin(of: name) else { return nil }
    return list.visible.indices.first { origin(ofColumn: $0) == column }
  }
}

extension SelectList {
  /// The visible column that a term of ORDER BY means by its number or name.
  func position(ofOrder term: OrderTerm) -> Int? {
    let tokens = SQLTokens.tokens(of: term.expression)
    guard tokens.count == 1 else { return nil }
    if let ordinal = Int(term.expression), (1...visible.count).contains(ordinal) {
      return ordinal - 1
    }
    return tokens[0].name.flatMap { name in
      visible.firstIndex { $0.isSameIdentifier(as: name) }
    }
  }
}
