public import GRDB
import QueryAnalysis

/// A SELECT by its parts, for `FetchedRecordsController` and all else that takes GRDB's requests.
///
/// ```swift
/// let request = DeclaredRequest<Player>(
///   table: "player", predicate: "score >= :least", order: ["name COLLATE NOCASE"],
///   arguments: ["least": 10])
/// ```
///
/// Parts are SQL; values belong into ``arguments``, under the names of the parameters. A controller
/// adds the order by section and by key itself, so that the order is total, and keeps the records of
/// one table up to date row by row: see <doc:Costs>.
public struct DeclaredRequest<RowDecoder>: FetchRequest, Sendable {
  /// Tables or views; several are joined, each row of one with each of the others, as far as the
  /// predicate lets them.
  public var tables: [String]
  /// SQL expressions, each with an optional `AS name`; nil: all columns.
  public var fields: [String]?
  /// Which rows: an SQL condition; nil: all.
  public var predicate: String?
  /// SQL expressions, for each combination of whose values there is one record.
  public var groupBy: [String]
  /// Which groups: an SQL condition; nil: all.
  public var having: String?
  /// Ordering terms as ORDER BY has them: `name COLLATE NOCASE DESC NULLS LAST`.
  public var order: [String]
  /// Values of the parameters, by name.
  public var arguments: StatementArguments

  /// A request for records of one table or view.
  public init(
    table: String, fields: [String]? = nil, predicate: String? = nil, groupBy: [String] = [],
    having: String? = nil, order: [String] = [], arguments: StatementArguments = [:]
  ) {
    self.init(
      tables: [table], fields: fields, predicate: predicate, groupBy: groupBy, having: having,
      order: order, arguments: arguments)
  }

  /// A request for records that several tables make together; the predicate says which rows belong
  /// together, such as `player.teamId = team.id`.
  public init(
    tables: [String], fields: [String]? = nil, predicate: String? = nil, groupBy: [String] = [],
    having: String? = nil, order: [String] = [], arguments: StatementArguments = [:]
  ) {
    precondition(!tables.isEmpty, "a request needs a table")
    self.tables = tables
    self.fields = fields
    self.predicate = predicate
    self.groupBy = groupBy
    self.having = having
    self.order = order
    self.arguments = arguments
  }

  /// The SELECT of the parts, with their parameters in it.
  public var sql: String {
    let from = tables.map(\.quotedIdentifier).joined(separator: ", ")
    return DeclaredParts(declaration, from: from).select(fields ?? ["*"], order: order)
  }

  var declaration: QueryDefinition.Declaration {
    QueryDefinition.Declaration(
      table: tables[0], fields: fields, predicate: predicate, groupBy: groupBy, having: having,
      order: order)
  }

  private var request: SQLRequest<RowDecoder> { SQLRequest(sql: sql, arguments: arguments) }

  /// Prepares the SELECT. O(s) in the size s of the schema.
  ///
  /// - Throws: `DatabaseError` where SQLite does not accept it.
  public func makePreparedRequest(
    _ db: Database, forSingleResult singleResult: Bool
  ) throws -> PreparedRequest {
    try request.makePreparedRequest(db, forSingleResult: singleResult)
  }

  /// How many records there are.
  ///
  /// - Throws: `DatabaseError`.
  public func fetchCount(_ db: Database) throws -> Int { try request.fetchCount(db) }

  /// The request as a part of another one.
  public var sqlSubquery: SQLSubquery { request.sqlSubquery }

  /// What the request reads.
  ///
  /// - Throws: `DatabaseError`.
  public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
    try request.databaseRegion(db)
  }
}

/// A request whose parts are known.
protocol RequestOfParts: Sendable {
  /// The parts of a request over one table; nil: it is over several.
  var singleTable: QueryDefinition.Declaration? { get }
}

extension DeclaredRequest: RequestOfParts {
  var singleTable: QueryDefinition.Declaration? { tables.count == 1 ? declaration : nil }
}
