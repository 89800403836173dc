import Algorithms
import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

/// How a result that is too large to hold is cut in two: what is held of every record, its key, its
/// section, its sort terms and a digest; and the statement that reads whole records by key.
struct BatchPlan: Sendable {
  /// What is held; its first two columns are the rowid and the digest.
  let index: QueryDefinition.Declaration
  let shape: RowShape
  private let fields: [String]
  private let digest: String
  private let rowID: String

  /// The column of the index that has the rowid.
  static let rowIDColumn = 0
  /// The column of the index that has the digest.
  static let digestColumn = 1

  /// - Throws: ``FetchedRecordsError`` where the request is not one over a table with rowids.
  init(_ declaration: QueryDefinition.Declaration?, shape: RowShape, in db: Database) throws {
    guard let declaration, declaration.groupBy.isEmpty, declaration.having == nil else {
      throw Self.refusal("it is not a plain SELECT over one table")
    }
    let facts = SchemaFacts(db: db)
    guard try facts.isTable(declaration.table) else {
      throw Self.refusal("\(declaration.table) is not a table")
    }
    try DigestFunction.install(in: db)
    self.shape = shape
    fields = declaration.fields ?? ["*"]
    let columns = facts.columns(of: declaration.table).map(\.quotedIdentifier)
    let expressions = fields.map(ResultColumn.init).flatMap { field in
      field.kind == .expression ? [field.expression] : columns
    }
    digest = DigestFunction.expression(expressions.map(\.parenthesized))
    let key = try db.primaryKey(declaration.table)
    let rowIDName = facts.rowIDName(of: declaration.table)
    rowID = (key.isRowID ? key.columns.first ?? rowIDName : rowIDName).quotedIdentifier
    var index = declaration
    index.fields = [rowID, "\(digest) AS \"fetched digest\""]
    index.order = declaration.order.map { [fields] in Self.withoutAlias($0, fields) }
    self.index = index
  }

  /// Why a request cannot be read in batches.
  static func refusal(_ reason: String) -> FetchedRecordsError {
    FetchedRecordsError(
      kind: .request,
      message: """
        records cannot be fetched in batches, because \(reason): make it a request of one table with \
        rowids, whose order is that of its columns
        """)
  }

  /// An ordering term that names a field is one of the field's expression: the index has no fields.
  private static func withoutAlias(_ term: String, _ fields: [String]) -> String {
    let parsed = OrderTerm(term)
    let field = fields.lazy.map(ResultColumn.init).first { $0.isNamed(by: parsed.expression) }
    guard let field else { return term }
    return term.replacing(
      parsed.expression, with: field.expression.parenthesized, maxReplacements: 1)
  }

  /// Reads whole records by their rowids. O(k log n), k rowids in a table of n rows.
  ///
  /// - Returns: for each row that is still there, its digest and its columns.
  /// - Throws: `DatabaseError`.
  func fetch(
    _ rowIDs: [Int64], arguments: QueryArguments, in db: Database
  ) throws -> [Int64: (digest: Value, record: OrderedResults.Record)] {
    var found: [Int64: (digest: Value, record: OrderedResults.Record)] = [:]
    let layout = RecordLayout(columns: shape.columns, columnCount: shape.columns.count + 2)
    for ids in rowIDs.chunks(ofCount: 64) {
      let keys = repeatElement("?", count: ids.count).joined(separator: ", ")
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(fields.joined(separator: ", ")), \(digest), \(rowID)
          FROM \(index.table.quotedIdentifier) WHERE \(rowID) IN (\(keys))
          """)
      statement.bind(arguments)
      defer { sqlite3_reset(statement.sqliteStatement) }
      let first = sqlite3_bind_parameter_count(statement.sqliteStatement) - Int32(ids.count)
      for (index, id) in ids.enumerated() {
        sqlite3_bind_int64(statement.sqliteStatement, first + Int32(index) + 1, id)
      }
      try statement.forEachRow(of: layout, in: db) { row in
        let record = row.makeRecord()
        let digest = record.value(shape.columns.count)
        found[record.rowID(at: shape.columns.count + 1)] = (digest, record)
      }
    }
    return found
  }
}
