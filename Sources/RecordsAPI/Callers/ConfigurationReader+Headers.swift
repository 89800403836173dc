import HTTPTypes
import QueryAnalysis
import Yams

// What a proxy says of callers: `headers`.
extension ConfigurationReader {
  mutating func headers(_ node: Node) -> CallerSettings.Proof? {
    let entries = entries(node, "`headers`", example: "sub: X-Forwarded-User") ?? []
    let claims = entries.compactMap { header(of: $0.name, $0.value) }
    return claims.isEmpty ? nil : .headers(claims)
  }

  /// A header is a text, and in brackets a list, whatever it has: who names a group must not make a
  /// list of it.
  private mutating func header(of claim: String, _ node: Node) -> HeaderClaim? {
    let items = node.sequence.map(Array.init)
    if let items {
      guard items.count == 1 else {
        note(
          node.position, "the list \"\(claim)\" is made of \(items.count) headers",
          mend: "write one in brackets, whose values stand with commas between them")
        return nil
      }
      guard claim != "sub" else {
        note(
          node.position, "\"sub\" is who somebody is, and no list", mend: "take the brackets away")
        return nil
      }
      configuration.boundaries += items.map(\.position)
    }
    let value = items?[0] ?? node
    guard let text = text(value, "the header of \"\(claim)\"") else { return nil }
    guard let field = HTTPField.Name(text) else {
      note(value.position, "\"\(text)\" is no name of a header", mend: "X-Forwarded-User")
      return nil
    }
    return HeaderClaim(claim: claim, field: field, isList: items != nil)
  }

  /// A text that is read as JSON would be whatever list somebody can write into it.
  mutating func checkTextsOfHeaders() {
    guard case .headers(let headers) = configuration.callers?.proof else { return }
    let texts = headers.filter { !$0.isList }
    for definition in configuration.queries {
      let claims = configuration.access[definition.name]?.claims ?? [:]
      for (parameter, claim) in claims.sorted(by: { $0.key < $1.key }) {
        guard let header = texts.first(where: { $0.claim == claim }),
          definition.texts.contains(where: { SQLFragment.listsItems(of: parameter, in: $0) })
        else { continue }
        note(
          configuration.position(of: definition.name, .entry(.parameters, parameter)),
          "the items of \"\(parameter)\" are read, and \"\(claim)\" of `headers` is a text",
          mend: "make it a list, \(claim): [\(header.field.rawName)]")
      }
    }
  }
}

extension QueryDefinition {
  /// All SQL that it has.
  fileprivate var texts: [String] {
    let own: [String] =
      switch form {
      case .sql(let sql): [sql]
      case .declared(let parts):
        [parts.predicate, parts.having].compactMap(\.self) + (parts.fields ?? []) + parts.groupBy
          + parts.order + orders.flatMap(\.terms)
      }
    return own + [section, sectionIndexTitle].compactMap(\.self) + alongside.map(\.sql)
  }
}
