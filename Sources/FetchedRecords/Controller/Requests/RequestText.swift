import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

/// A request's SQL in which each parameter has a name, and the values of the parameters.
///
/// `?` and `?NNN` mean a place in the text or in the list of all parameters; they become names, so
/// that the text may be put into another one: https://www.sqlite.org/lang_expr.html#varparam
struct RequestText {
  var sql: String
  private(set) var arguments: QueryArguments = [:]
  /// The largest parameter number so far.
  private var count = 0

  /// - Throws: `DatabaseError`.
  init(_ statement: Statement, in db: Database) throws {
    sql = ""
    let text = StatementText(statement: statement).sqlWithoutSemicolon
    sql = try add(text, statement.arguments, in: db)
  }

  /// Takes the values of another piece of SQL, and returns the piece with its parameters named.
  mutating func addExpression(
    _ expression: (sql: String, arguments: StatementArguments), in db: Database
  ) throws -> String {
    try add(expression.sql, expression.arguments, in: db)
  }

  private mutating func add(
    _ sql: String, _ arguments: StatementArguments, in db: Database
  ) throws -> String {
    let first = count
    var names: [String?] = []
    var named = ""
    var rest = sql.startIndex
    for token in SQLTokens.tokens(of: sql) where token.kind == .parameter {
      named += sql[rest..<token.text.startIndex]
      named += Self.name(token.text, after: first, &names)
      rest = token.text.endIndex
    }
    named += sql[rest...]
    count = first + names.count
    try bind(names, after: first, arguments, in: db)
    return named
  }

  private static func name(ofNumber number: Int) -> String { "fetched_\(number)" }

  /// The parameter's name in the text; enters it under its number among `names`.
  private static func name(
    _ token: Substring, after first: Int, _ names: inout [String?]
  ) -> String {
    if token == "?" {
      names.append(nil)
      return ":\(Self.name(ofNumber: first + names.count))"
    }
    if token.hasPrefix("?"), let number = Int(token.dropFirst()) {
      while names.count < number { names.append(nil) }
      return ":\(Self.name(ofNumber: first + number))"
    }
    if !names.contains(String(token)) { names.append(String(token)) }
    return String(token)
  }

  /// Lets GRDB bind the arguments as it would to the request's own statement, and reads them back.
  private mutating func bind(
    _ names: [String?], after first: Int, _ arguments: StatementArguments, in db: Database
  ) throws {
    if names.isEmpty { return }
    let rows = names.map { "(\($0 ?? "?"))" }.joined(separator: ", ")
    let statement = try db.makeStatement(sql: "VALUES \(rows)")
    statement.setUncheckedArguments(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    for (index, name) in names.enumerated() {
      guard try statement.step(in: db) else { break }
      let name = name.map { String($0.dropFirst()) } ?? Self.name(ofNumber: first + index + 1)
      self.arguments[name] = statement.value(at: 0)
    }
  }
}
