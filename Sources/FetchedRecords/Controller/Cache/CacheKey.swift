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
    let functions = try FunctionList(db)
    guard ([query.sql] + views).allSatisfy(functions.areStable(in:)),
      ([query.sql] + schema).allSatisfy(FunctionList.namesKnownCollations)
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
