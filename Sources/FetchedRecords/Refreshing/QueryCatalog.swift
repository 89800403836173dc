import GRDB
import Locks
import OrderedResults
package import QueryAnalysis

/// Which queries there are, and what SQLite makes of each under the present schema.
package final class QueryCatalog: Sendable {
  /// Where definitions come from.
  package enum Extent: Sendable {
    case definitions([QueryDefinition])
    /// Every table and view is a query of its name, those made later too.
    case everyTable(columnTypes: ColumnTypes = .inferred)
  }

  /// One query: what was asked for, and what became of it.
  package struct Entry: Sendable {
    package let definition: QueryDefinition
    /// In the first of the definition's orders.
    package var analysis: Result<Query, QueryProblems> { inEachOrder.map { $0[0] } }
    /// One for each of the definition's orders; else one.
    package let inEachOrder: Result<[Query], QueryProblems>

    /// Whether it has to be analysed anew.
    func isConcerned(by change: SchemaChange) -> Bool {
      switch inEachOrder {
      case .success(let queries): queries.contains { change.concerns($0) }
      case .failure: change.concerns(definition)
      }
    }

    /// What it is in the order that its arguments name, if they name one.
    ///
    /// - Throws: what is wrong with it, or that there is no such order.
    package func query(with arguments: QueryArguments) throws(FetchFailure) -> Query {
      let queries: [Query]
      do {
        queries = try inEachOrder.get()
      } catch {
        throw FetchFailure(error)
      }
      guard let name = arguments[QueryDefinition.orderParameter] else { return queries[0] }
      let index = definition.orders.firstIndex { .text($0.name) == name }
      guard let index else {
        throw FetchFailure(
          kind: .query, detail: "the query \(definition.name) has no order \(name) any more")
      }
      return queries[index]
    }
  }

  /// The queries under one schema, and the position of each by its name.
  struct Entries: Sendable {
    let extent: Extent
    private(set) var all: [Entry]
    /// By their names, those that nobody declares: `Refresher+Explored.swift`.
    var explored: [String: Entry]
    /// The names of those that a change of the schema concerned since they were analysed.
    var outdated: Set<String>
    private let positions: [String: Int]

    init(
      _ extent: Extent, _ all: [Entry] = [], explored: [String: Entry] = [:],
      outdated: Set<String> = []
    ) {
      (self.extent, self.all, self.explored, self.outdated) = (extent, all, explored, outdated)
      positions = Dictionary(
        all.enumerated().map { ($1.definition.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(name: String) -> Entry? { positions[name].map { all[$0] } ?? explored[name] }

    /// One that is declared, and outdated; nil: there is none.
    var nextOutdated: String? { outdated.first { positions[$0] != nil } }

    /// Puts a new analysis in the place of that of the same name.
    mutating func update(_ entry: Entry) {
      let name = entry.definition.name
      if let position = positions[name] { all[position] = entry } else { explored[name] = entry }
      outdated.remove(name)
    }
  }

  private let entries: Mutex<Entries>

  init(extent: Extent) { entries = Mutex(Entries(extent)) }

  /// Where the definitions come from now.
  package var extent: Extent { entries.withLock { $0.extent } }

  /// Whether there are none, and there will be none unless others take their place.
  var isEmpty: Bool {
    if case .definitions(let definitions) = extent { definitions.isEmpty } else { false }
  }

  /// All queries that are declared, in the order of their definition.
  package var all: [Entry] { entries.withLock { $0.all } }

  /// The query of that name, declared or explored. O(1).
  package subscript(name: String) -> Entry? { entries.withLock { $0[name] } }

  /// Adds a query that nobody declares.
  func explore(_ entry: Entry) {
    entries.withLock { $0.explored[entry.definition.name] = entry }
  }

  /// Takes one out again.
  func endExploring(_ name: String) {
    entries.withLock {
      $0.explored[name] = nil
      $0.outdated.remove(name)
    }
  }

  /// Whether a change of the schema concerned a query since it was analysed.
  func isOutdated(_ name: String) -> Bool { entries.withLock { $0.outdated.contains(name) } }

  /// A query that is declared, and outdated; nil: there is none. O(o), o of them.
  var nextOutdated: String? { entries.withLock(\.nextOutdated) }

  /// Analyses a query, if a change of the schema concerned it since that was done.
  ///
  /// - Throws: `DatabaseError`.
  func bringUpToDate(_ name: String, in db: Database) throws {
    let old = entries.withLock { $0.outdated.contains(name) ? $0[name] : nil }
    guard let old else { return }
    let new = try Self.entry(old.definition, in: db)
    entries.withLock { $0.update(new) }
  }

  /// What the query of that name is under the present schema, in the order that its arguments name.
  func query(named name: String, arguments: QueryArguments) throws(FetchFailure) -> Query {
    guard let entry = self[name] else {
      throw FetchFailure(kind: .query, detail: "there is no query \(name) any more")
    }
    return try entry.query(with: arguments)
  }

  /// The definitions that do not fit the schema.
  package var refused: [QueryProblems] { entries.withLock { $0.refused } }

  /// Analyses every definition that is new under the schema which `db` sees now. Those that its change
  /// concerns are outdated, and analysed each when its turn comes (``bringUpToDate(_:in:)``): some
  /// milliseconds.
  func analyze(in db: Database, after change: SchemaChange) throws {
    let old = entries.withLock(\.self)
    let analyzed = try Self.analyzed(old.extent, in: db) { definition in
      old[definition.name].flatMap { $0.definition == definition ? $0 : nil }
    }
    let known = analyzed.all.filter { old[$0.definition.name] != nil } + old.explored.values
    let concerned = known.filter { $0.isConcerned(by: change) }.map(\.definition.name)
    entries.withLock {
      $0 = Entries(
        analyzed.extent, analyzed.all, explored: $0.explored,
        outdated: $0.outdated.union(concerned).filter { analyzed[$0] ?? old.explored[$0] != nil })
    }
  }

  /// What definitions are under the schema that `db` sees now.
  ///
  /// - Parameters:
  ///   - extent: where they come from.
  ///   - db: in a transaction.
  ///   - known: an analysis of the same definition under the same schema, if there is one.
  /// - Returns: each with its analysis, or with what is wrong with it.
  /// - Throws: `DatabaseError`.
  static func analyzed(
    _ extent: Extent, in db: Database, reusing known: (QueryDefinition) -> Entry? = { _ in nil }
  ) throws -> Entries {
    let definitions =
      switch extent {
      case .definitions(let definitions): definitions
      case .everyTable(let types): try SchemaFacts(db: db).definitionsOfAllTables(types)
      }
    return Entries(extent, try definitions.map { try known($0) ?? entry($0, in: db) })
  }

  /// What one definition is under the schema that `db` sees now.
  static func entry(_ definition: QueryDefinition, in db: Database) throws -> Entry {
    do {
      let queries = try Query.analyzedInEachOrder(definition, in: db)
      return Entry(definition: definition, inEachOrder: .success(queries))
    } catch let problems as QueryProblems {
      return Entry(definition: definition, inEachOrder: .failure(problems))
    }
  }

  /// Puts other queries in the place of those that are declared.
  func replace(with new: Entries) {
    entries.withLock {
      $0 = Entries(new.extent, new.all, explored: $0.explored, outdated: $0.outdated)
    }
  }
}

extension QueryCatalog.Entries {
  /// The definitions that do not fit the schema.
  var refused: [QueryProblems] {
    all.compactMap { entry in
      if case .failure(let problems) = entry.analysis { problems } else { nil }
    }
  }
}

extension SchemaFacts {
  /// A query for each table and view that a person made: no shadow tables of virtual tables.
  ///
  /// https://www.sqlite.org/pragma.html#pragma_table_list
  func definitionsOfAllTables(_ types: ColumnTypes) throws -> [QueryDefinition] {
    try String.fetchAll(
      db,
      sql: """
        SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
          AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
        """
    ).map { name in
      var definition = QueryDefinition(name: name, form: .declared(.init(table: name)))
      definition.columnTypes = types
      return definition
    }
  }
}

/// The definitions that do not fit the schema of the database.
package struct RefusedQueries: Error, Sendable {
  package let queries: [QueryProblems]
}
