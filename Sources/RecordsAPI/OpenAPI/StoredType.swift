import ChangeCapture
import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

/// What is known of how SQLite stores the values of a result column.
enum StoredType: Equatable {
  /// Whatever SQLite may hold: a declared type is a wish, but in a STRICT table.
  case any
  /// Of a column of a STRICT table: https://www.sqlite.org/stricttables.html
  ///
  /// Any may be NULL, whatever the column says: an outer join leaves it out, in a view too.
  case strict(String)

  /// Those of each result column of a query, on a connection of its own; empty where the database
  /// cannot be asked just now.
  static func all(of sql: String, database path: String) -> [StoredType] {
    let configuration = GRDB.Configuration.readOnly(label: "didchange.types")
    let reader = try? DatabaseQueue(path: path, configuration: configuration)
    let types = try? reader?.read { db -> [StoredType] in
      let statement = try db.makeStatement(sql: sql)
      // The pointer is good for as long as the statement lives.
      return try withExtendedLifetime(statement) {
        let pointer = statement.sqliteStatement
        return try (0..<sqlite3_column_count(pointer)).map { try storedType($0, of: pointer, db) }
      }
    }
    return types ?? []
  }

  private static func storedType(
    _ column: Int32, of statement: SQLiteStatement, _ db: Database
  ) throws -> StoredType {
    guard let table = sqlite3_column_table_name(statement, column).map({ String(cString: $0) }),
      let name = sqlite3_column_origin_name(statement, column).map({ String(cString: $0) })
    else { return .any }
    let type = try String.fetchOne(
      db,
      sql: """
        SELECT c.type FROM pragma_table_list(?) t
        JOIN pragma_table_info(?) c ON t.strict AND t.schema = 'main' AND c.name = ?
        """, arguments: [table, table, name])
    return type.map { .strict($0.uppercased()) } ?? .any
  }

  /// The values as JSON Schema has them.
  var schema: JSONTree {
    guard case .strict(let type) = self else { return .value }
    let schema: JSONTree? =
      switch type {
      case "INT", "INTEGER": "integer"
      case "REAL": "number"
      case "TEXT": "string"
      default: nil
      }
    return schema.map { ["type": [$0, "null"]] } ?? .value
  }
}

extension ColumnType {
  /// What a value is shown as that is one of the column's type; any other is shown as it is stored.
  var schema: JSONTree {
    switch self {
    case .boolean: ["anyOf": [["type": "boolean"], .value]]
    case .date, .datetime: .value
    case .json: [:]
    case .blob:
      [
        "anyOf": [
          OpenAPIDocument.object([
            "url": ["type": "string"], "bytes": OpenAPIDocument.count,
          ]), .value,
        ]
      ]
    }
  }
}

extension JSONTree {
  /// Any value of SQLite's.
  static let value: JSONTree = ["$ref": "#/components/schemas/Value"]
}
