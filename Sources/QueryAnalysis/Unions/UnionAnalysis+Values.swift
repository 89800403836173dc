import OrderedResults

// Values that UNION takes for equal must look the same: which of them it shows is not certain.
extension UnionAnalysis {
  /// - Throws: ``NotIncremental`` where records may be equal and look different.
  func checkValues() throws {
    guard arms[0].analysis.encoding == .utf8 else {
      throw NotIncremental(reason: "the database holds text in UTF-16, and it is UNION")
    }
    for column in exactColumns {
      let kinds = try arms.map { try kind(ofColumn: column, $0) }
      guard !kinds.contains(.integers) || !kinds.contains(.reals) else {
        throw NotIncremental(
          reason: """
            \(names[column]) is an integer in one SELECT and a real number in another: 1 and 1.0 would be one \
            record of UNION, and which of them it shows is not certain
            """)
      }
      _ = try collation(ofColumn: column)
    }
  }

  /// The numbers that may be in a column. Reals among integers are no whole numbers.
  private enum Kind { case integers, reals, none }

  private func kind(ofColumn column: Int, _ arm: UnionArm) throws -> Kind {
    let analysis = arm.analysis
    if analysis.isRowID(column) { return .integers }
    if let origin = analysis.origin(ofColumn: column) {
      let table = analysis.select.tables[origin.table].name
      switch analysis.facts.comparison(of: origin.name, in: table)?.affinity {
      case .integer, .numeric: return .integers
      case .real: return .reals
      case .text: return .none
      case .blob, nil:
        throw NotIncremental(
          reason: """
            \(names[column]) is a column without a type: 1 and 1.0 would be one record of UNION, and which of \
            them it shows is not certain: declare a type, or write CAST(… AS TEXT)
            """)
      }
    }
    let tokens = arm.tokens(ofColumn: column)
    if tokens.count == 1, let token = tokens.first {
      if token.kind == .string || token.isWord("NULL") { return .none }
      if token.kind == .number { return token.isInteger ? .integers : .reals }
    }
    guard tokens.isExactValue, !tokens.contains(where: { $0.isWord("COLLATE") }) else {
      throw NotIncremental(
        reason: """
          \(names[column]) is an expression that may be 1 or 1.0, which would be one record of UNION, and \
          which of them it shows is not certain: write CAST(… AS TEXT) or AS INTEGER
          """)
    }
    return .integers
  }
}
