import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

extension FetchedRecordsController {
  /// The SELECT that ``performFetch()`` runs, with its values written into it: for logs, and to try
  /// it elsewhere.
  ///
  /// Runs nothing. Columns that the records do not show are there for their identity, their section
  /// and their order.
  ///
  /// - Throws: as ``performFetch()`` where the request does not fit the schema.
  public func previewSQL() throws -> String {
    try core.engine.read { transaction in
      let analyzed = try core.request.analyzed(in: transaction.db)
      let statement = try transaction.db.makeStatement(sql: analyzed.query.sql)
      statement.bind(analyzed.arguments)
      // https://www.sqlite.org/c3ref/expanded_sql.html
      guard let expanded = sqlite3_expanded_sql(statement.sqliteStatement) else {
        return analyzed.query.sql
      }
      defer { sqlite3_free(expanded) }
      return String(cString: expanded)
    }
  }

  /// How the changes of the request are found, in a sentence for a person: row by row, or by running
  /// it again, and why.
  ///
  /// - Throws: as ``previewSQL()``.
  public func trackingReason() throws -> String {
    try core.engine.read { transaction in
      let tracking = try core.request.analyzed(in: transaction.db).query.tracking
      return "\(tracking.mode.rawValue): \(tracking.reason)"
    }
  }
}
