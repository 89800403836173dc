import GRDB
import GRDBSQLite
package import OrderedResults

/// Values for a query's parameters, by name.
package typealias QueryArguments = [String: Value]

extension Statement {
  /// Binds `arguments` by name: https://www.sqlite.org/c3ref/bind_blob.html
  ///
  /// A parameter without an argument is NULL. SQLite copies the bytes.
  func bind(_ arguments: QueryArguments) {
    sqlite3_reset(sqliteStatement)
    sqlite3_clear_bindings(sqliteStatement)
    for index in 0..<sqlite3_bind_parameter_count(sqliteStatement) {
      guard let name = sqlite3_bind_parameter_name(sqliteStatement, index + 1),
        let value = arguments[String(String(cString: name).dropFirst())]
      else { continue }
      bind(value, at: index + 1)
    }
  }

  /// Binds the parameters that have no name, in their order; they may stand among others.
  func bindUnnamed(_ values: [Value]) {
    var index: Int32 = 0
    for value in values {
      repeat { index += 1 } while sqlite3_bind_parameter_name(sqliteStatement, index) != nil
      bind(value, at: index)
    }
  }

  private func bind(_ value: Value, at index: Int32) {
    switch value {
    case .null:
      sqlite3_bind_null(sqliteStatement, index)
    case .integer(let integer):
      sqlite3_bind_int64(sqliteStatement, index, integer)
    case .real(let real):
      sqlite3_bind_double(sqliteStatement, index, real)
    case .text(let bytes):
      bytes.withUnsafeBytes { bindText($0, at: index) }
    case .blob(let bytes):
      bytes.withUnsafeBytes { bindBlob($0, at: index) }
    }
  }

  private func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    // A null pointer would bind NULL; text without bytes may point anywhere.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { somewhere in
      _ = sqlite3_bind_text(
        sqliteStatement, index,
        bytes.bindMemory(to: CChar.self).baseAddress ?? UnsafePointer(somewhere.baseAddress),
        Int32(bytes.count), copyingDestructor)
    }
  }

  private func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    // A null pointer would bind NULL instead of the empty blob.
    if bytes.isEmpty {
      sqlite3_bind_zeroblob(sqliteStatement, index, 0)
    } else {
      sqlite3_bind_blob(
        sqliteStatement, index, bytes.baseAddress, Int32(bytes.count), copyingDestructor)
    }
  }

  /// SQLITE_TRANSIENT, a macro that Swift does not import: "copy the bytes before you return".
  private var copyingDestructor: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}
