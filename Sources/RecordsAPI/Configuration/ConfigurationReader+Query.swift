import FetchedRecords
import QueryAnalysis
import Yams

extension ConfigurationReader {
  /// Reads one query; nil where it is not even clear which records it is about.
  mutating func query(
    _ name: String, at position: TextPosition, _ node: Node
  ) -> QueryDefinition? {
    guard let entries = read(node, as: QueryWord.self, what: "the query \"\(name)\"") else {
      return nil
    }
    let words = Dictionary(uniqueKeysWithValues: entries.map { ($0.word, $0.value) })
    for (word, value) in words {
      configuration.positions[.query(name, .word(word))] = value.position
    }
    checkForm(name, at: position, entries, isMeant: Self.meansForm(node))
    var query = QueryDefinition(name: name, form: .sql(""))
    query.title = words[.title].flatMap { text($0, "`title`") }
    query.key = words[.key].flatMap { items($0, .key, of: name) }
    query.section = words[.section].flatMap { text($0, "`section`") }
    query.sectionIndexTitle = words[.sectionIndexTitle].flatMap { text($0, "`sectionIndexTitle`") }
    query.parameters = words[.parameters].map { parameters($0, of: name) } ?? []
    query.columnTypes = words[.columns].map { columnTypes($0, of: name) } ?? ColumnTypes()
    if let node = words[.allow], let rule = rule(node, "`allow`") {
      configuration.access[name, default: QueryAccess()].rule = rule
    }
    query.isCached = words[.cache].flatMap { truth($0, "`cache`") } ?? false
    query.alongside = words[.alongside].map { alongside($0, of: name) } ?? []
    query.orders = words[.orders].map { orders($0, of: name) } ?? []
    if let node = words[.orders], words[.order] != nil {
      note(
        node.position, "the query \"\(name)\" has both `order` and `orders`",
        mend: "keep one of the two: the first of `orders` holds where no other is asked for")
    }
    if let node = words[.sectionIndexTitle], words[.section] == nil {
      note(node.position, "`sectionIndexTitle` needs a `section`", mend: "add `section`")
    }
    guard let form = form(words, query.orders, of: name) else { return nil }
    query.form = form
    return query
  }

  /// Exactly one of `table` and `sql`, and with `sql` no word whose part it has itself.
  private mutating func checkForm(
    _ name: String, at position: TextPosition, _ entries: [(word: QueryWord, value: Node)],
    isMeant: Bool
  ) {
    let sql = entries.first { $0.word == .sql }
    let table = entries.first { $0.word == .table }
    switch (table, sql) {
    case (nil, nil) where isMeant: break
    case (nil, nil):
      note(
        position, "the query \"\(name)\" has neither `table` nor `sql`",
        mend: "name a table or view, or write a SELECT")
    case (_?, let sql?):
      note(
        sql.value.position, "the query \"\(name)\" has both `table` and `sql`",
        mend: "keep one of the two")
    case (nil, _?):
      for (word, value) in entries where QueryWord.declarationOnly.contains(word) {
        note(
          value.position, "`\(word.rawValue)` goes with `table`, not with `sql`",
          mend: "write it into the SQL")
      }
    case (_?, nil): break
    }
  }

  /// A slip in `table` or `sql` has been noted already, as an unknown word.
  private static func meansForm(_ node: Node) -> Bool {
    node.mapping?.keys.contains { key in
      let word = key.scalar.flatMap { QueryWord.nearest(to: $0.string) }
      return word == .table || word == .sql
    } ?? false
  }

  private mutating func form(
    _ words: [QueryWord: Node], _ orders: [QueryDefinition.Order], of name: String
  ) -> QueryDefinition.Form? {
    let sql = words[.sql].flatMap { text($0, "`sql`") }
    var declaration = QueryDefinition.Declaration(table: "")
    declaration.fields = words[.fields].flatMap { items($0, .fields, of: name) }
    declaration.predicate = words[.where].flatMap { text($0, "`where`") }
    declaration.groupBy = words[.groupBy].flatMap { items($0, .groupBy, of: name) } ?? []
    declaration.having = words[.having].flatMap { text($0, "`having`") }
    declaration.order =
      words[.order].flatMap { items($0, .order, of: name) } ?? orders.first?.terms ?? []
    if let table = words[.table] {
      guard let table = text(table, "`table`") else { return nil }
      declaration.table = table
      return .declared(declaration)
    }
    return sql.map { .sql($0) }
  }

  /// A list of SQL terms, each of them whole.
  private mutating func items(
    _ node: Node, _ word: QueryWord, of query: String
  ) -> [String]? {
    items(node, "`\(word.rawValue)`", of: query) { .item(word, $0) }
  }

  private mutating func items(
    _ node: Node, _ what: String, of query: String, at part: (Int) -> Configuration.Part
  ) -> [String]? {
    guard let items = list(node, what) else { return nil }
    for (index, item) in items.enumerated() {
      configuration.positions[.query(query, part(index))] = item.node.position
      if let flaw = SQLTerm.flaw(item.text) {
        note(item.node.position, "\"\(item.text)\" \(flaw.message)", mend: flaw.mend)
      }
    }
    return items.map(\.text)
  }

  /// Lists of ordering terms, each with the name by which it is asked for.
  private mutating func orders(_ node: Node, of query: String) -> [QueryDefinition.Order] {
    let entries = entries(node, "`orders`", example: "NAME: [name COLLATE NOCASE]") ?? []
    return entries.compactMap { name, key, value in
      configuration.positions[.query(query, .entry(.orders, name))] = value.position
      if let flaw = QueryName.flaw(name, of: "an order") {
        note(key.position, flaw.message, mend: flaw.mend)
        return nil
      }
      return items(value, "the order \"\(name)\"", of: query) { .itemOf(.orders, name, $0) }
        .map { QueryDefinition.Order(name: name, terms: $0) }
    }
  }

  private mutating func alongside(_ node: Node, of query: String) -> [QueryDefinition.Alongside] {
    let entries = entries(node, "`alongside`", example: "NAME: SELECT …") ?? []
    return entries.compactMap { name, _, value in
      configuration.positions[.query(query, .entry(.alongside, name))] = value.position
      guard let sql = text(value, "`alongside` \"\(name)\"") else { return nil }
      return QueryDefinition.Alongside(name: name, sql: sql)
    }
  }
}
