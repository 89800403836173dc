import GRDB
import OrderedResults
import QueryAnalysis

/// What a cached result is of: whatever decides the records but the content of the database.
struct CacheKey: Equatable {
  let bytes: [UInt8]

  /// - Returns: nil where the result depends on more than the database: the present time, chance,
  ///   or a function or collation of the application, which may be another one next time.
  /// - Throws: `DatabaseError`.
  init?(_ query: Query, _ arguments: QueryArguments, in db: Database) throws {
    // Views and indices count too; so the whole schema does.
    let schema = try String.fetchAll(
      db, sql: "SELECT ifnull(sql, name) FROM sqlite_schema ORDER BY type, name")
    let views = try String.fetchAll(
      db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'view'")
    let functions = try CacheableFunctions(db)
    guard ([query.sql] + views).allSatisfy(functions.allow),
      ([query.sql] + schema).allSatisfy(CacheableFunctions.allowCollations)
    else { return nil }
    var encoder = RecordEncoder()
    encoder.begin()
    let sqliteVersion = try String.fetchOne(db, sql: "SELECT sqlite_source_id()") ?? ""
    for text in [CacheFile.format, sqliteVersion, query.sql] + schema {
      encoder.append(.text(text))
    }
    encoder.append(.text("\(query.layout)"))
    for name in arguments.keys.sorted() {
      encoder.append(.text(name))
      encoder.append(arguments[name] ?? .null)
    }
    bytes = encoder.makeRecord().withBytes { Array($0) }
  }
}

/// Which SQL gives the same result for the same database, in this process and in the next.
private struct CacheableFunctions {
  private let stable: Set<String>
  private let known: Set<String>

  init(_ db: Database) throws {
    // SQLITE_DETERMINISTIC is 0x800: https://www.sqlite.org/c3ref/c_deterministic.html
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT lower(name), min(builtin AND flags & 0x800 <> 0) FROM pragma_function_list
        GROUP BY lower(name)
        """)
    known = Set(rows.map { $0[0] as String })
    stable = Set(rows.filter { $0[1] as Bool }.map { $0[0] as String })
  }

  func allow(_ sql: String) -> Bool {
    let tokens = SQLTokens.tokens(of: sql)
    let times = ["CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"]
    return !tokens.indices.contains { index in
      let token = tokens[index]
      if times.contains(where: token.isWord) || token.text.lowercased() == "'now'" { return true }
      guard index + 1 < tokens.count, tokens[index + 1].isSymbol("("), let name = token.name else {
        return false
      }
      let isTime = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]
      let folded = name.lowercased()
      return known.contains(folded) && (!stable.contains(folded) || isTime.contains(folded))
    }
  }

  static func allowCollations(_ sql: String) -> Bool {
    let tokens = SQLTokens.tokens(of: sql)
    return !zip(tokens, tokens.dropFirst()).contains { word, name in
      word.isWord("COLLATE") && Collation(rawValue: (name.name ?? "").uppercased()) == nil
    }
  }
}
