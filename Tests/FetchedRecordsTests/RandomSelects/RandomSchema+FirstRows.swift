import GRDB
import TestSupport

extension RandomSchema {
  /// Statements that put some rows into the tables, and that SQLite takes.
  func firstRows(using random: inout RandomSource) throws -> [String] {
    let statements = rows(using: &random)
    return try DatabaseQueue().writeWithoutTransaction { db in
      for statement in self.statements { try db.execute(sql: statement) }
      return statements.filter { (try? db.execute(sql: $0)) != nil }
    }
  }
}
