extension SubqueryAnalysis.Surroundings {
  /// Adds the sources of a SELECT, and its conditions as far as they are certain.
  mutating func enter(_ select: ResolvedSelect, named aliases: [String], numbers: [Int]) {
    names.enter(select, named: aliases)
    self.numbers += numbers
    for (index, (source, alias)) in zip(select.sources, aliases).enumerated() {
      var joined = source.certain(names.requiring(source: index)).named(alias)
      if case .function(let arguments) = source.body {
        let tokens = SQLTokens.tokens(of: arguments)[...]
        guard names.isCertain(tokens, rejectingNull: tokens.columnName != nil),
          let qualified = names.qualified(tokens)
        else {
          refusal = refusal ?? "what \(source.name) is called with is not certain"
          continue
        }
        joined.body = .function(arguments: qualified)
      }
      if case .using(let columns) = source.constraint {
        // There may be columns of these names around the SELECT, too.
        let equalities = columns.compactMap { column -> String? in
          guard let before = select.sources[..<index].firstIndex(where: { $0.has(column: column) })
          else { return nil }
          let name = column.quotedIdentifier
          return "\(aliases[before].quotedIdentifier).\(name) = \(alias.quotedIdentifier).\(name)"
        }
        joined.constraint = .on(equalities.joined(separator: " AND "))
      }
      sources.append(joined)
    }
    conditions += [select.syntax.predicate.flatMap(names.certainCondition)].compactMap(\.self)
  }

  /// Adds the sources of a view that is one of the sources already, so that a subquery in it can name
  /// their columns: the same rows once more, found by their rowids.
  mutating func enterAgain(
    _ select: ResolvedSelect, shownBy view: String, named aliases: [String]
  ) {
    names.enter(select, named: aliases)
    guard let place = sources.firstIndex(where: { $0.isNamed(view) }) else { return }
    // Where a LEFT JOIN leaves the view out, its subqueries are not asked.
    sources[place].isLeftJoined = false
    let shown = sources[place].tables
    let first = sources[..<place].reduce(0) { $0 + $1.tables.count }
    numbers += numbers[first..<first + shown.count]
    var next = 0
    for (source, alias) in zip(select.sources, aliases) {
      var joined = source.certain(names).named(alias)
      let equalities = zip(joined.tables.indices, shown[next...]).map { index, shown in
        // Within a view that is one of its sources, a LEFT JOIN may leave a table out.
        let comparison = source.mayLackRow(ofTable: index) ? "IS" : "="
        return zip(joined.tables[index].identity, shown.identity).map {
          "\($0) \(comparison) \($1)"
        }
      }
      joined.constraint = .on(equalities.joined().joined(separator: " AND "))
      next += joined.tables.count
      if !joined.functionIDs.isEmpty {
        refusal = refusal ?? "\(view) has a table-valued function beside a subquery"
        joined.constraint = .none
      }
      refusal = refusal ?? joined.tables.compactMap(\.lack).first
      sources.append(joined)
    }
  }
}
