import Algorithms
import GRDB

/// The subqueries of a query that look at nothing around them, with parameters in their place.
///
/// What stands between parentheses in an expression, behind EXISTS, or behind IN.
struct CommonValues {
  private let db: Database
  private let facts: SchemaFacts
  private var values: [CommonValue] = []
  /// What is none of them, wherever it stands.
  private var refused: Set<String> = []
  private var names: ColumnKinds
  /// All of the query: a name that one expression gives may stand in another.
  private let all: [ArraySlice<SQLToken>]
  private let givenNames: Set<String>?

  /// More of them are left as they are, and so are all where that many subqueries would have to be looked at.
  private static let most = 8
  private static let mostPlaces = 64

  /// Nil where there is none.
  ///
  /// - Parameters:
  ///   - texts: the query, or all expressions of it.
  ///   - sql: the query.
  ///   - db: has the schema.
  init?(in texts: [String], of sql: String, _ db: Database) {
    self.db = db
    facts = SchemaFacts(db: db)
    // A text of UTF-16 may not be what it was when it is bound.
    guard (try? facts.textEncoding()) == .utf8, !texts.contains(where: CommonValue.isNamed) else {
      return nil
    }
    all = texts.map { SQLTokens.tokens(of: $0)[...] }
    names = ColumnKinds(readBy: sql, facts)
    givenNames = Self.names(givenIn: all)
    for tokens in all {
      let with = WithClause(tokens)
      let places = ValuePlace.all(in: tokens, behind: with)
      if places.count > Self.mostPlaces { return nil }
      var end = 0
      // What is within one is looked up with it.
      for place in places where place.tokens.lowerBound >= end {
        if enter(place, of: tokens, with) { end = place.tokens.upperBound }
      }
    }
    if values.isEmpty { return nil }
  }

  /// The same without lists; nil where nothing is left.
  var withoutLists: CommonValues? {
    var copy = self
    copy.values.removeAll { $0.list != nil }
    return copy.values.isEmpty ? nil : copy
  }

  var hasLists: Bool { values.contains { $0.list != nil } }

  /// A text with parameters in the place of subqueries.
  func replacing(in text: String) -> String {
    let tokens = SQLTokens.tokens(of: text)[...]
    let with = WithClause(tokens)
    var replaced = ""
    var end = text.startIndex
    for place in ValuePlace.all(in: tokens, behind: with) {
      let first = tokens[place.tokens.lowerBound].text.startIndex
      guard first >= end, let value = self[place.text(in: tokens)] else { continue }
      replaced += text[end..<first] + value.written
      end = tokens[place.tokens.upperBound].text.endIndex
    }
    replaced += text[end...]
    return with?.leftOut(of: replaced) ?? replaced
  }

  /// How the query is followed, where it is followed with parameters: what reads all of it, reads it as it was written.
  ///
  /// - Throws: ``NotIncremental`` where the one cannot be had of the other.
  func restored(_ shape: IncrementalShape) throws(NotIncremental) -> IncrementalShape {
    var plan = shape.plan
    plan.values = values
    plan.leads += values.flatMap(\.leads)
    plan.outline = nil
    plan.pages = plan.pages.map {
      PagedStatement(page: values.restored(in: $0.page), count: values.restored(in: $0.count))
    }
    plan.window = plan.window.map {
      WindowStatement(
        short: $0.short.map(values.restored), sql: values.restored(in: $0.sql),
        bounds: values.restored(in: $0.bounds), order: $0.order)
    }
    let sql = values.restored(in: shape.sql)
    let statements = [sql, plan.pages?.page, plan.window?.sql, plan.window?.bounds]
    guard !statements.compactMap(\.self).contains(where: CommonValue.isNamed) else {
      throw NotIncremental(reason: "a value for all records stands where it is not followed")
    }
    let shown = values.map(\.shown).listed
    return IncrementalShape(
      sql: sql, list: shape.list, key: shape.key, addedKeyNames: shape.addedKeyNames,
      keyIsUnique: shape.keyIsUnique, plan: plan,
      reason: "\(shape.reason); where \(shown) comes to something else, the query runs again",
      looksThroughFew: shape.looksThroughFew, groups: shape.groups)
  }

  /// A text as it was written.
  func restored(in text: String) -> String { values.restored(in: text) }

  private subscript(text: String) -> CommonValue? { values.first { $0.text == text } }

  // MARK: - Looking for them

  /// - Returns: whether it is one of these.
  private mutating func enter(
    _ place: ValuePlace, of tokens: ArraySlice<SQLToken>, _ with: WithClause?
  ) -> Bool {
    let text = place.text(in: tokens)
    let body = place.body(in: tokens)
    guard !refused.contains(text), let tables = tables(of: place, tokens, with) else {
      return false
    }
    do {
      if let known = values.first(where: { $0.text == text }) {
        guard try known.list == list(at: place, tokens, with) else { throw Uncertain() }
        try check(known.affinity, place, tokens)
        return true
      }
      guard values.count < Self.most, let statement = db.standingAlone(body, with: tables) else {
        return false
      }
      values.append(try value(of: place, tokens, with, tables, statement))
      return true
    } catch {
      // Wherever it stands.
      values.removeAll { $0.text == text }
      refused.insert(text)
      return false
    }
  }

  /// - Throws: where it is another value in another place.
  private mutating func value(
    of place: ValuePlace, _ tokens: ArraySlice<SQLToken>, _ with: WithClause?, _ tables: String,
    _ statement: Statement
  ) throws -> CommonValue {
    let body = place.body(in: tokens)
    if sortsForLimit(body, statement) { throw Uncertain() }
    try facts.checkStability(of: tables + body.sourceText)
    let texts = try facts.textsRead(by: tables + body.sourceText).map { SQLTokens.tokens(of: $0) }
    var affinity: ColumnAffinity?
    var list: CommonValue.List?
    switch place.kind {
    case .existence: break
    case .value:
      affinity = try self.affinity(of: body, statement, texts)
      try check(affinity, place, tokens)
      try checkSubtypes(texts, tokens.around(place, nil))
    case .list:
      // Those up to LIMIT are better followed (``LimitedRows``).
      guard statement.columnCount == 1, !hasLimit(body) else { throw Uncertain() }
      list = try self.list(at: place, tokens, with)
      if list == .texts,
        try ![nil, .text, .blob].contains(self.affinity(of: body, statement, texts))
      {
        throw Uncertain()
      }
    }
    let read = try facts.dependencies(of: [statement]).flatMap { [$0.table] + $0.storage }
    return CommonValue(
      parameter: CommonValue.parameter(values.count + refused.count), text: place.text(in: tokens),
      subquery: (place.isExistence ? "EXISTS " : "") + "(\(tables)\(body.sourceText))",
      shown: place.shown(in: tokens), tables: Array(read.uniqued()), affinity: affinity, list: list)
  }

  /// What a list has to have, as the column says that is looked for in it; nil: it is no list.
  private mutating func list(
    at place: ValuePlace, _ tokens: ArraySlice<SQLToken>, _ with: WithClause?
  ) throws -> CommonValue.List? {
    guard case .list(let column) = place.kind else { return nil }
    let others = all.filter { $0 != tokens } + tokens.around(place, with)
    guard let column, Self.names(givenIn: others)?.contains(column.name.lowercased()) == false,
      let list = names.kind(of: column.name).list
    else { throw Uncertain() }
    return list
  }

  /// A number of a column without a type is compared with a text as it is, and as a parameter like a text.
  private mutating func check(
    _ affinity: ColumnAffinity?, _ place: ValuePlace, _ tokens: ArraySlice<SQLToken>
  ) throws {
    guard affinity == .blob else { return }
    let isNeverText = { (name: String) in
      givenNames?.contains(name.lowercased()) == false && names.kind(of: name).isNeverText
    }
    if place.mayMeetText(in: tokens, isNeverText) { throw Uncertain() }
  }

  /// Those of all texts; nil where any may be given.
  private static func names(givenIn texts: [ArraySlice<SQLToken>]) -> Set<String>? {
    texts.reduce([]) { names, text in names.flatMap { names in text.givenNames.map(names.union) } }
  }

  /// JSON is taken for a text where it is a parameter.
  private func checkSubtypes(_ texts: [[SQLToken]], _ around: [ArraySlice<SQLToken>]) throws {
    let functions = try FunctionList(db)
    if texts.contains(where: functions.mayUseSubtypes),
      around.contains(where: functions.mayUseSubtypes)
    {
      throw Uncertain()
    }
  }

  /// The WITH that a subquery needs where it stands alone, or none; nil: a table of another WITH may be read.
  private func tables(
    of place: ValuePlace, _ tokens: ArraySlice<SQLToken>, _ with: WithClause?
  ) -> String? {
    let names = place.tablesOfWith(tokens)
    if names.isEmpty { return "" }
    guard let with, place.tokens.lowerBound >= with.end,
      names.allSatisfy({ name in with.names.contains(where: name.isSameIdentifier) })
    else { return nil }
    return with.text + " "
  }

  /// Whether all rows are sorted for the first of them: then they are better followed (``LimitedRows``).
  private func sortsForLimit(_ body: ArraySlice<SQLToken>, _ statement: Statement) -> Bool {
    hasLimit(body) && !db.isReadInOrder(statement.sql)
  }

  private func hasLimit(_ body: ArraySlice<SQLToken>) -> Bool {
    SelectClauses(body.atDepthZero[...])[.limit] != nil
  }

  private struct Uncertain: Error {}

  /// The affinity of what a SELECT shows: that of a column, or none.
  ///
  /// https://www.sqlite.org/datatype3.html#affinity_of_expressions
  private func affinity(
    of body: ArraySlice<SQLToken>, _ statement: Statement, _ texts: [[SQLToken]]
  ) throws -> ColumnAffinity? {
    guard statement.columnCount == 1 else { throw Uncertain() }
    let syntax = try SelectParser.parse(body.sourceText)
    let expression = SQLTokens.tokens(of: syntax.columns[0].expression)[...]
    guard let first = expression.first, let last = expression.last else { throw Uncertain() }
    if last.isSymbol("*") || expression.columnName != nil {
      // Of several SELECTs, each decides.
      let isCompound = texts.joined().contains { token in
        SelectClauses.compoundOperators.contains(where: token.isWord)
      }
      guard !isCompound, let origin = StatementText(statement: statement).origin(ofColumn: 0),
        let comparison = facts.comparison(of: origin.column.lowercased(), in: origin.table)
      else { throw Uncertain() }
      return comparison.affinity
    }
    // These have the affinity, or the collation, of something within.
    let words = ["CAST", "LIKELY", "UNLIKELY", "LIKELIHOOD"]
    if first.isSymbol("(") || words.contains(where: first.isWord)
      || expression.contains(where: { $0.isWord("COLLATE") })
    {
      throw Uncertain()
    }
    return nil
  }
}
