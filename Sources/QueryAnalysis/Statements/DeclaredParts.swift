/// Writes the SELECT of a declaration, whole or in parts.
package struct DeclaredParts {
  let declaration: QueryDefinition.Declaration

  /// What stands behind FROM.
  let table: String

  package init(_ declaration: QueryDefinition.Declaration, from table: String? = nil) {
    self.declaration = declaration
    self.table = table ?? declaration.table.quotedIdentifier
  }

  var fields: [String] { declaration.fields ?? ["*"] }

  /// The declaration as a SELECT of its own clauses.
  var syntax: SelectSyntax {
    SelectSyntax(
      columns: fields.map(ResultColumn.init),
      sources: [
        SourceSyntax(origin: .table(schema: nil, name: declaration.table), alias: nil)
      ],
      predicate: declaration.predicate, groupBy: declaration.groupBy, having: declaration.having,
      order: declaration.order
    ).mapExpressions(\.withTablesOfInAsSelects)
  }

  /// The statement that returns `columns`; each expression ends with its line, so that a comment
  /// at its end hides nothing of what follows.
  package func select(_ columns: [String], order: [String] = []) -> String {
    Self.select(
      columns, from: table, conditions: [declaration.predicate?.parenthesized].compactMap(\.self),
      groupBy: declaration.groupBy, having: declaration.having, order: order)
  }

  static func select(
    _ columns: [String], from source: String, conditions: [String], groupBy: [String],
    having: String?, windows: [String] = [], order: [String] = []
  ) -> String {
    let clauses = [
      ("SELECT ", columns.joined(separator: ", ")), ("FROM ", source),
      ("WHERE ", conditions.joined(separator: " AND ")),
      ("GROUP BY ", groupBy.joined(separator: ", ")), ("HAVING ", having?.parenthesized ?? ""),
      ("WINDOW ", windows.joined(separator: ", ")),
      ("ORDER BY ", order.joined(separator: ", ")),
    ]
    return clauses.filter { !$0.1.isEmpty }.map { $0.0 + $0.1 }.joined(separator: "\n")
  }

  /// A statement that prepares just when one expression of the declaration is right.
  struct Probe {
    let part: QueryPart
    let expression: String
    let sql: String
  }

  var fieldProbes: [Probe] {
    (declaration.fields ?? []).enumerated().map { index, field in
      Probe(
        part: .field(index), expression: field, sql: "SELECT \(field)\nFROM \(table)")
    }
  }

  /// Clauses may use the names that the fields define, so they are probed with the fields.
  func clauseProbes(selecting fields: [String]) -> [Probe] {
    let select = "SELECT \(fields.joined(separator: ", "))\nFROM \(table)"
    var probes: [Probe] = []
    func add(_ part: QueryPart, _ expression: String, _ clause: String) {
      probes.append(Probe(part: part, expression: expression, sql: "\(select) \(clause)"))
    }
    if let predicate = declaration.predicate {
      add(.predicate, predicate, "WHERE \(predicate.parenthesized)")
    }
    for (index, term) in declaration.groupBy.enumerated() {
      add(.grouping(index), term, "GROUP BY \(term)\n")
    }
    if let having = declaration.having {
      let group = declaration.groupBy.isEmpty ? "1" : declaration.groupBy.joined(separator: ", ")
      add(.having, having, "GROUP BY \(group) HAVING \(having.parenthesized)")
    }
    for (index, term) in declaration.order.enumerated() {
      add(.ordering(index), term, "ORDER BY \(term)\n")
    }
    return probes
  }

  func expressionProbe(_ expression: String, part: QueryPart) -> Probe {
    Probe(
      part: part, expression: expression,
      sql: "SELECT \(expression.parenthesized) FROM \(table)")
  }
}
