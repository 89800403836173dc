import GRDB
import OrderedResults
import QueryAnalysis

/// What a controller asks for, without its record type: what an engine has to know.
struct RecordsRequest: Sendable {
  /// Makes the statement, with its arguments and its adapter.
  let prepare: @Sendable (Database) throws -> PreparedRequest
  /// The parts of a request over one table, where they are known: the engine writes its SELECT.
  var declaration: QueryDefinition.Declaration?
  /// The SQL expression that names a record's section.
  var section: (@Sendable (Database) throws -> (sql: String, arguments: StatementArguments))?
  /// Names a record's section in Swift.
  var sectionOfRow: (@Sendable (Row) throws -> Value)?
  /// Where the result is kept between two lives of the process; nil: nowhere.
  var cacheName: String?
  /// Whether only an index of the records is held.
  var isBatched = false
  /// Whether the statement was written by GRDB, so that the section may be put before its order.
  let isOrderedByQueryInterface: Bool
  /// The table whose primary key identifies the records.
  let identityTable: String?
  /// Decodes a row and throws what its record throws.
  let check: @Sendable (Row) throws -> Void
}

/// What SQLite makes of a ``RecordsRequest`` under one schema.
struct AnalyzedRequest: Sendable {
  let query: Query
  let arguments: QueryArguments
  let shape: RowShape
  /// How records are read by key; nil: the results hold them whole.
  var batches: BatchPlan?
}

extension RecordsRequest {
  /// Asks SQLite what the request means under the schema that `db` sees now.
  ///
  /// - Parameters:
  ///   - db: in a transaction.
  ///   - known: an analysis of the same definition under this schema, if there is one.
  /// - Returns: what the request means.
  /// - Throws: `DatabaseError`, ``FetchedRecordsError``, and whatever the request throws.
  func analyzed(
    in db: Database, reusing known: (QueryDefinition) -> Query? = { _ in nil }
  ) throws -> AnalyzedRequest {
    let prepared = try prepare(db)
    try Self.checkFetchesNothingElse(prepared)
    var text = try RequestText(prepared.statement, in: db)
    var definition = QueryDefinition(name: "records", form: .sql(""))
    if let section {
      let expression = try text.addExpression(try section(db), in: db)
      definition.section = expression
      if isOrderedByQueryInterface, !isBatched {
        text.sql = SectionOrder.orderingBySection(text.sql, expression)
      }
    }
    var batches: BatchPlan?
    if isBatched {
      let plan = try BatchPlan(
        declaration ?? QueryDefinition.Declaration(plainSelect: text.sql),
        shape: RowShape(columns: prepared.statement.columnNames, adapter: prepared.adapter),
        in: db)
      definition.form = .declared(plan.index)
      batches = plan
    } else if let declaration {
      definition.form = .declared(declaration)
      definition.key = try computedKey(of: prepared, in: db)
    } else {
      definition.form = .sql(text.sql)
      definition.key =
        try key(of: prepared.statement, in: db) ?? computedKey(of: prepared, in: db)
    }
    definition.repeatsColumnNames = true
    definition.parameters = text.arguments.keys.sorted().map {
      QueryParameter(name: $0, type: .blob)
    }
    do {
      let query = try known(definition) ?? Query.analyzed(definition, in: db)
      if isBatched, query.plan == nil { throw BatchPlan.refusal(query.tracking.reason) }
      let shape = RowShape(columns: prepared.statement.columnNames, adapter: prepared.adapter)
      return AnalyzedRequest(
        query: query, arguments: text.arguments, shape: shape, batches: batches)
    } catch let problems as QueryProblems {
      throw FetchedRecordsError(FetchFailure(problems))
    }
  }

  /// The columns that identify a record, where the analysis would not find them: in a result that
  /// shows more tables than that of the records.
  private func key(of statement: Statement, in db: Database) throws -> [String]? {
    guard let identityTable else { return nil }
    let facts = SchemaFacts(db: db)
    let text = StatementText(statement: statement)
    let origins = text.origins
    let others = origins.contains {
      $0.map { !$0.table.isSameIdentifier(as: identityTable) } ?? false
    }
    guard others, try facts.isTable(identityTable) else { return nil }
    let columns = try facts.primaryKey(of: identityTable).columns
    let positions = text.origins.positions(of: columns, of: identityTable)
    return positions.map { $0.map { statement.columnNames[$0] } }
  }

  /// The columns that SQL computes under the names of the record type's primary key: what a record
  /// finds there is its identity, whatever rows it was made of.
  private func computedKey(of request: PreparedRequest, in db: Database) throws -> [String]? {
    guard let identityTable else { return nil }
    let facts = SchemaFacts(db: db)
    guard try facts.isTable(identityTable) else { return nil }
    let columns = try facts.primaryKey(of: identityTable).columns
    let text = StatementText(statement: request.statement)
    if text.origins.positions(of: columns, of: identityTable) != nil { return nil }
    let names = text.columnNames
    // A row of the positions shows which of them an adapter puts under which name.
    let list = names.enumerated().map { "\($0) AS \($1.quotedIdentifier)" }.joined(separator: ", ")
    let row = try Row.fetchOne(db, sql: "SELECT \(list)", adapter: request.adapter)
    let positions = columns.compactMap { row?[$0] as Int? }
    // The analysis knows columns by their names: of several with one name it takes the first.
    guard positions.count == columns.count,
      positions.allSatisfy({ names.firstIndex(of: names[$0]) == $0 })
    else { return nil }
    return positions.map { names[$0] }
  }

  /// Prefetched associations come from further statements, whose rows nobody follows here.
  private static func checkFetchesNothingElse(_ prepared: PreparedRequest) throws {
    // GRDB keeps it to itself.
    let supplement = Mirror(reflecting: prepared).children.first {
      $0.label == "supplementaryFetch"
    }
    guard let supplement, Mirror(reflecting: supplement.value).children.isEmpty == false else {
      return
    }
    throw FetchedRecordsError(
      kind: .request,
      message: """
        the request prefetches associations with including(all:), which take statements of their \
        own: use including(required:) or including(optional:), or a controller for each of them
        """)
  }
}
