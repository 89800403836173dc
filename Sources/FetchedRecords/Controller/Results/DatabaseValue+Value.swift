import Foundation
import GRDB
import OrderedResults

extension DatabaseValue {
  /// Text whose bytes are not UTF-8 is repaired.
  init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .integer(let integer): integer.databaseValue
      case .real(let real): real.databaseValue
      case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
      case .blob(let bytes): Data(bytes).databaseValue
      }
  }
}

extension Value {
  init(_ value: DatabaseValue) {
    self =
      switch value.storage {
      case .null: .null
      case .int64(let integer): .integer(integer)
      case .double(let real): .real(real)
      case .string(let string): .text(string)
      case .blob(let data): .blob(Array(data))
      }
  }
}
