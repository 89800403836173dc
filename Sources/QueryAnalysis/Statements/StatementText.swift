import Algorithms
package import GRDB
import GRDBSQLite

/// What SQLite says about a statement's text, before it ever runs.
package struct StatementText {
  let statement: Statement
  /// What it was written as; nil: not by a definition.
  private(set) var part: QueryPart?

  package init(statement: Statement) { self.statement = statement }

  /// Prepares `sql`, which must be one SELECT, whatever is in its parts.
  ///
  /// Nothing else is so much as prepared: some PRAGMAs take effect then, and an EXPLAIN looks like
  /// a statement that returns records. https://www.sqlite.org/pragma.html
  ///
  /// - Throws: `QueryProblem` with SQLite's own words, at `part`.
  init(_ sql: String, part: QueryPart, in db: Database, knownWords: (String) -> [String]) throws {
    guard !sql.utf8.contains(0) else {
      throw QueryProblem(
        part: part, message: "it contains a NUL character, where SQLite would end it",
        mend: "take the character out")
    }
    let first = SQLTokens.first(of: sql)
    guard ["SELECT", "WITH", "VALUES"].contains(where: { first?.isWord($0) == true }) else {
      let beginning = first.map { "begins with \"\($0.text.prefix(32))\"" } ?? "is empty"
      throw QueryProblem(
        part: part, message: "this statement \(beginning): it is no SELECT",
        mend: "write a single SELECT (a WITH clause or VALUES is fine)")
    }
    try Self.refuseAddresses(in: sql, part: part)
    statement = try Self.prepare(sql, part: part, in: db, knownWords: knownWords)
    self.part = part
    guard statement.isReadonly, statement.columnCount > 0 else {
      throw QueryProblem(
        part: part, message: "this statement does not return records",
        mend: "write a single SELECT (a WITH clause or VALUES is fine)")
    }
  }

  /// A bound value passes for an address of a tokenizer even where a connection takes no other:
  /// https://www.sqlite.org/fts3.html#custom_application_defined_tokenizers
  private static func refuseAddresses(in sql: String, part: QueryPart) throws {
    let tokens = SQLTokens.tokens(of: sql)
    let isCalled = zip(tokens, tokens.dropFirst()).contains { token, next in
      next.isSymbol("(") && token.name?.isSameIdentifier(as: tokenizerFunction) == true
    }
    guard isCalled else { return }
    throw QueryProblem(
      part: part,
      message: "\(tokenizerFunction)() tells addresses of the process, and takes them",
      mend: "take the call out: FTS3 and FTS4 tables find their tokenizers by name")
  }

  private static let tokenizerFunction = "fts3_tokenizer"

  /// Prepares the first statement, and looks at what follows without preparing it.
  private static func prepare(
    _ sql: String, part: QueryPart, in db: Database, knownWords: (String) -> [String]
  ) throws -> Statement {
    do {
      guard let statement = try db.allStatements(sql: sql).next() else {
        throw DatabaseError(message: "empty statement")
      }
      let length =
        sqlite3_sql(statement.sqliteStatement).map { String(cString: $0).utf8.count } ?? 0
      let rest = String(decoding: sql.utf8.dropFirst(length), as: UTF8.self)
      // A semicolon at the end ends the first statement, and more of them are none.
      guard SQLTokens.tokens(of: rest).allSatisfy({ $0.isSymbol(";") }) else {
        throw QueryProblem(
          part: part, message: "there is more than one statement",
          mend: "write one SELECT, and no semicolon before its end")
      }
      return statement
    } catch let error as DatabaseError {
      throw problem(from: error, part: part, knownWords: knownWords)
    }
  }

  private static func problem(
    from error: DatabaseError, part: QueryPart, knownWords: (String) -> [String]
  ) -> QueryProblem {
    let message = error.message ?? "it does not prepare"
    let word = unknownWord(in: message)
    return QueryProblem(
      part: part, message: message,
      mend: "mend the SQL so that SQLite can prepare it",
      unknownWord: word, knownWords: word.map { _ in knownWords(message) } ?? [])
  }

  /// The name in SQLite's "no such column: x", without the table it is qualified with.
  private static func unknownWord(in message: String) -> String? {
    for prefix in ["no such column: ", "no such table: ", "no such function: "]
    where message.hasPrefix(prefix) {
      return message.dropFirst(prefix.count).split(separator: ".").last.map(String.init)
    }
    return nil
  }

  package var columnNames: [String] { statement.columnNames }

  /// The names of the parameters without their sigil, each once; nil stands for a bare `?`.
  var parameterNames: [String?] {
    let count = sqlite3_bind_parameter_count(statement.sqliteStatement)
    let names = (0..<count).map { index in
      sqlite3_bind_parameter_name(statement.sqliteStatement, index + 1)
        .map { String(String(cString: $0).dropFirst()) }
    }
    return Array(names.uniqued())
  }

  /// The table column that result column `index` shows unchanged, if it does.
  ///
  /// Through views and subqueries: https://www.sqlite.org/c3ref/column_database_name.html
  func origin(ofColumn index: Int) -> ColumnOrigin? {
    let pointer = statement.sqliteStatement
    guard
      let table = sqlite3_column_table_name(pointer, Int32(index)).map({ String(cString: $0) }),
      let column = sqlite3_column_origin_name(pointer, Int32(index)).map({ String(cString: $0) })
    else { return nil }
    return ColumnOrigin(table: table, column: column)
  }

  /// The origins of all result columns.
  package var origins: [ColumnOrigin?] { columnNames.indices.map(origin(ofColumn:)) }
}

/// A column of a table of the schema.
package struct ColumnOrigin: Equatable {
  package let table: String
  package let column: String

  package init(table: String, column: String) {
    self.table = table
    self.column = column
  }

  package func isSame(as other: ColumnOrigin) -> Bool {
    table.isSameIdentifier(as: other.table) && column.isSameIdentifier(as: other.column)
  }
}

extension [ColumnOrigin?] {
  func position(of origin: ColumnOrigin) -> Int? {
    firstIndex { $0?.isSame(as: origin) == true }
  }

  /// Where the result shows these columns of a table unchanged; nil: not all of them.
  package func positions(of columns: [String], of table: String) -> [Int]? {
    let positions = columns.compactMap { position(of: ColumnOrigin(table: table, column: $0)) }
    return positions.count == columns.count ? positions : nil
  }
}
