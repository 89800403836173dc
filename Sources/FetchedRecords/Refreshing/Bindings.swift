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

  /// Binds the parameters that have no name, in their order, and begins again where there are more of them than values.
  func bindUnnamed(inTurn values: [Value]) {
    var number = 0
    for index in 0..<sqlite3_bind_parameter_count(sqliteStatement)
    where sqlite3_bind_parameter_name(sqliteStatement, index + 1) == nil && !values.isEmpty {
      bind(values[number % values.count], at: index + 1)
      number += 1
    }
  }

  private func bind(_ value: Value, at index: Int32) {
    value.withView { $0.bind(to: sqliteStatement, at: index, copying: true) }
  }
}

extension ColumnView {
  /// Binds the column; where it is not copied, the bytes must outlive the binding.
  func bind(to statement: SQLiteStatement, at index: Int32, copying: Bool) {
    // SQLITE_TRANSIENT, a macro that Swift does not import: "copy the bytes before you return".
    let destructor = copying ? unsafeBitCast(-1, to: sqlite3_destructor_type.self) : nil
    // A null pointer would bind NULL instead of the empty text or blob.
    let empty = ("" as StaticString).utf8Start
    switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .real(let real): sqlite3_bind_double(statement, index, real)
    case .text(let bytes):
      let text = bytes.baseAddress ?? UnsafeRawPointer(empty)
      sqlite3_bind_text(
        statement, index, text.assumingMemoryBound(to: CChar.self), Int32(bytes.count), destructor)
    case .blob(let bytes):
      sqlite3_bind_blob(
        statement, index, bytes.baseAddress ?? UnsafeRawPointer(empty), Int32(bytes.count),
        destructor)
    }
  }
}
