import Algorithms
import GRDB
import GRDBSQLite
import Hashing

/// The SQL function `fetched_digest(…)`: a number of 63 bits that tells rows with other values apart
/// from this one.
///
/// Two different rows have the same digest once in 2^63 times.
enum DigestFunction {
  static let name = "fetched_digest"
  /// SQLite allows 127 arguments: https://www.sqlite.org/limits.html#max_function_arg
  private static let maximumArgumentCount = 100

  /// The expression for the digest of some expressions.
  static func expression(_ parts: [String]) -> String {
    let calls = parts.chunks(ofCount: maximumArgumentCount).map { group in
      "\(name)(\(group.joined(separator: ", ")))"
    }
    return calls.count == 1 ? calls[0] : expression(calls)
  }

  /// Gives the function to a connection; again does no harm.
  static func install(in db: Database) throws {
    // While a statement runs, a function that is there could not be given again.
    if (try? db.makeStatement(sql: "SELECT \(expression(["1"]))")) != nil { return }
    // SQLITE_INNOCUOUS is not imported: https://www.sqlite.org/c3ref/c_deterministic.html
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | 0x20_0000
    let code = sqlite3_create_function_v2(
      db.sqliteConnection, name, -1, flags, nil,
      { context, count, values in
        var digest = KeyedHash.stable.seed
        for index in 0..<Int(count) { DigestFunction.add(values?[index], to: &digest) }
        sqlite3_result_int64(context, Int64(digest >> 1))
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  private static func add(_ value: OpaquePointer?, to digest: inout UInt64) {
    func mix(_ start: UnsafeRawPointer, _ count: Int) {
      digest = KeyedHash.stable.hash(start, count: count, from: digest)
    }
    func mix(_ word: UInt64) { withUnsafePointer(to: word) { mix($0, 8) } }
    let type = sqlite3_value_type(value)
    mix(UInt64(type))
    switch type {
    case SQLITE_INTEGER: mix(UInt64(bitPattern: sqlite3_value_int64(value)))
    case SQLITE_FLOAT: mix(sqlite3_value_double(value).bitPattern)
    case SQLITE_TEXT, SQLITE_BLOB:
      // The pointer is good until the value is asked for another form of itself.
      let bytes =
        type == SQLITE_TEXT
        ? sqlite3_value_text(value).map { UnsafeRawPointer($0) } : sqlite3_value_blob(value)
      if let bytes { mix(bytes, Int(sqlite3_value_bytes(value))) }
    default: break
    }
  }
}
