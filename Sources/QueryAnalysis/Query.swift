package import OrderedResults

/// What SQLite makes of a ``QueryDefinition`` under one schema: the statement that runs, the shape
/// of its rows, and what it depends on.
///
/// Immutable: it holds no connection and no statement, and is made anew where a change of the schema concerns it. A
/// reference, because every snapshot of its results has it.
package final class Query: Sendable {
  package let definition: QueryDefinition
  /// The SELECT that runs; its parameters are bound, never spliced.
  package let sql: String
  package let layout: RecordLayout
  /// The tables and columns that the statement reads, through views, CTEs and subqueries.
  package let dependencies: [TableDependency]
  /// Those of them that the records come from.
  package let tables: [String]
  /// The tables that virtual ones among those read in their turn.
  package let storage: [String]
  /// What is read together with the records.
  package let alongside: [AlongsideStatement]
  package let tracking: Tracking
  /// How the result is maintained row by row, if it can be.
  package let plan: IncrementalPlan?
  /// How each column of its only record follows rows, where that aggregates all of them; else none.
  package let totals: [AggregatePlan]
  /// How its only record is found among others that are followed; nil: it is another query.
  package let lookup: RowLookup?
  /// How its records are made of the rows that a SELECT in its FROM has up to LIMIT; nil: it is another query.
  package let limitedRows: LimitedRows?
  /// How its records are made of the groups that a SELECT within it makes; nil: it is another query.
  package let innerGroups: InnerGroups?
  /// Whether whoever asks for it chooses what some function is called with.
  ///
  /// One call is not ended before it is over, as SQLite looks for an interruption between
  /// instructions, and it lasts as its arguments are large: `hex(zeroblob(:n))`.
  package let letsClientsCallFunctions: Bool

  /// By which arguments a changed row finds the results that it may be in; nil: each has to look at it,
  /// as where something stands alongside, which may change for all.
  package var routing: ArgumentEquality? { alongside.isEmpty ? plan?.equality : nil }

  /// What its values follow: of each statement alongside, then of each column of a record of aggregates, the rows
  /// of each aggregate; or of a record that is looked up, those that it is one of, or the rows up to LIMIT, or
  /// the groups, that a SELECT in FROM has;
  /// or of each value that all records look at, the rows of its aggregates; or of groups, their rows. nil: a statement
  /// runs again.
  package var rowsToFollow: [[QueryDefinition]?] {
    let plans = alongside.map(\.plan) + totals
    return plans.map { $0?.aggregates.map(\.rows) } + [followed].compactMap { $0.map { [$0] } }
      + (plan?.values ?? []).map { $0.plan?.aggregates.map(\.rows) }
      + [plan?.tallied].compactMap(\.self)
  }

  /// Among ``rowsToFollow``, where those are that its groups are made of.
  package var positionOfTallied: Int { alongside.count + (plan?.values.count ?? 0) }

  /// Whether its only record may be made of rows that are followed, though it has no plan of its own.
  package var followsRows: Bool { !totals.isEmpty || lookup != nil }

  /// The rows of which its records are one, or are made, if these are followed by themselves.
  package var followed: QueryDefinition? {
    lookup?.rows ?? limitedRows?.rows ?? innerGroups?.groups
  }

  init(
    definition: QueryDefinition, sql: String, layout: RecordLayout,
    dependencies: [TableDependency], tables: [String], storage: [String],
    alongside: [AlongsideStatement],
    tracking: Tracking, plan: IncrementalPlan?, totals: [AggregatePlan], lookup: RowLookup?,
    limitedRows: LimitedRows?, innerGroups: InnerGroups?, letsClientsCallFunctions: Bool
  ) {
    self.definition = definition
    self.sql = sql
    self.layout = layout
    self.dependencies = dependencies
    self.tables = tables
    self.storage = storage
    self.alongside = alongside
    self.tracking = tracking
    self.plan = plan
    self.totals = totals
    self.lookup = lookup
    self.limitedRows = limitedRows
    self.innerGroups = innerGroups
    self.letsClientsCallFunctions = letsClientsCallFunctions
  }
}

/// A table that a query reads, and which of its columns.
package struct TableDependency: Sendable, Equatable {
  package let table: String
  /// In the table's order; empty where only the rows count (`SELECT count(*)`).
  package let columns: [String]
  /// Of a virtual table, the tables that it may read in its turn.
  package var storage: [String] = []
}

/// How a query's changes are found.
package struct Tracking: Sendable, Equatable {
  package enum Mode: String, Sendable {
    /// Changed rows are read again by key, or added to what the record aggregates.
    case incremental
    /// The query runs again.
    case refetch
  }

  package let mode: Mode
  /// Why the query is tracked like that, in a sentence for a person.
  package let reason: String
}
