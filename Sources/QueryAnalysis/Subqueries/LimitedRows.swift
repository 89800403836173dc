/// How a query is run for the rows that a SELECT in its FROM, or in its WHERE, has up to LIMIT.
///
/// Which these are depends on all others. So the SELECT is a query like any other, which is kept up to date row
/// by row, and what is made of its rows is read for these:
/// `SELECT * FROM (SELECT id, body, at FROM message ORDER BY at DESC LIMIT 50) ORDER BY at`.
package struct LimitedRows: Sendable, Equatable {
  /// The SELECT, each of whose records is a row of one table.
  package let rows: QueryDefinition
  /// The query for rows whose rowids are given by ``parameter`` as JSON.
  package let sql: String
  /// The tables that it reads beside those of the SELECT.
  package let tablesBeside: Set<String>

  /// The name of the parameter, without its colon.
  package static let parameter = "didchange_rows_limited"

  /// For more rows than this the query is as well run again.
  package static let most = WindowStatement.shortLimit
}
