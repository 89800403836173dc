package import Callers
import FetchedRecords
import Foundation
import OrderedResults
import QueryAnalysis

/// What becomes of a query, for people to read: what SQLite makes of it, and what it returns.
package struct QueryReport {
  private let entry: QueryCatalog.Entry
  /// What its result has, in words; nil: it was not run, for a parameter has no default value.
  private let trial: Result<String, FetchFailure>?
  /// nil: nobody was asked for.
  private let caller: CallerReport?

  /// Opens the database, prepares all queries of the settings, and runs those that can do without a
  /// value from a client.
  ///
  /// Takes as long as the queries do, and holds one result at a time.
  ///
  /// - Parameters:
  ///   - settings: which queries.
  ///   - database: the file.
  ///   - claims: those of somebody who reads them, as far as they may; nil: of nobody.
  /// - Returns: a report for each.
  /// - Throws: ``ConfigurationProblems`` with the problems of all queries, also those that only
  ///   running them shows; where no queries are named, the report of a table tells its problem.
  package static func all(
    _ settings: LaunchSettings, database: String, as claims: Claims? = nil
  ) throws -> [QueryReport] {
    do {
      let refresher = try Refresher(
        path: database, queries: settings.extent, limits: settings.queryLimits)
      let reports = refresher.catalog.all.filter { !$0.definition.isPrivate }
        .map { entry in
          QueryReport(
            entry, refresher,
            claims.map {
              CallerReport(
                $0, settings.access[entry.definition.name] ?? QueryAccess(), entry.definition)
            })
        }
      let problems = reports.compactMap { $0.problem(in: settings.configuration) }
      if !settings.queries.isEmpty, !problems.isEmpty { throw ConfigurationProblems(problems) }
      return reports
    } catch let refused as RefusedQueries {
      throw settings.configuration?.problems(refused) ?? refused
    } catch let failure as FetchFailure {
      let problem = ConfigurationProblem(
        file: database, position: .start, message: failure.detail)
      throw ConfigurationProblems([problem])
    }
  }

  private init(
    _ entry: QueryCatalog.Entry, _ refresher: Refresher, _ caller: CallerReport?
  ) {
    self.entry = entry
    self.caller = caller
    let parameters = entry.definition.parameters
    let own = caller?.arguments ?? [:]
    let values = parameters.compactMap { parameter in
      (own[parameter.name] ?? parameter.defaultValue).map { (parameter.name, $0) }
    }
    guard let queries = try? entry.inEachOrder.get(), values.count == parameters.count,
      caller?.mayRead != false
    else {
      trial = nil
      return
    }
    let arguments = Dictionary(uniqueKeysWithValues: values)
    let results = queries.dropFirst().reduce(refresher.trial(queries[0], arguments: arguments)) {
      results, query in
      results.flatMap { results in
        refresher.trial(query, arguments: arguments).map { _ in results }
      }
    }
    trial = results.map { results in
      let records = Self.counted(results.count, "record")
      if entry.definition.section == nil { return records }
      return "\(records) in \(Self.counted(results.numberOfSections, "section"))"
    }
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// A block of lines, a fact a line, the SQL indented below.
  package var text: String {
    let definition = entry.definition
    var lines = [definition.name + (definition.title.map { ": \($0)" } ?? "")]
    func add(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      lines.append("  " + name.padding(toLength: 12, withPad: " ", startingAt: 0) + value)
    }
    switch entry.inEachOrder {
    case .failure(let refused): add("problem", FetchFailure(refused).detail)
    case .success(let queries):
      let query = queries[0]
      add("columns", query.layout.columns.joined(separator: ", "))
      add("key", query.layout.key == nil ? "none" : query.layout.keyNames.joined(separator: ", "))
      add("types", query.layout.typesInWords)
      add("section", definition.section)
      add("parameters", definition.parameters.map(\.text).joined(separator: ", "))
      add("orders", definition.orders.map(\.name).joined(separator: ", "))
      for (index, statement) in query.alongside.enumerated() {
        let way =
          statement.refusal.map { "runs again: \($0)" } ?? "follows the rows, where it is dear"
        add(index == 0 ? "alongside" : "", "\(statement.name) \(way)")
      }
      add("tracking", "\(query.tracking.mode.rawValue): \(query.tracking.reason)")
      add("commits", query.costs)
      add("may read", caller?.verdict)
      add("arguments", caller?.argumentsInWords)
      add("result", trial.map { try? $0.get() } ?? whyNotRun)
      add("problem", failure?.detail)
      for (index, query) in queries.enumerated() {
        lines.append("  sql" + (index == 0 ? "" : " of the order \(definition.orders[index].name)"))
        lines += query.sql.split(separator: "\n").map { "    \($0)" }
        if index > 0, query.tracking != queries[0].tracking {
          lines.append("    \(query.tracking.mode.rawValue): \(query.tracking.reason)")
        }
      }
    }
    return lines.map { $0.showingControls() }.joined(separator: "\n") + "\n"
  }

  private var whyNotRun: String? {
    caller?.mayRead == false ? nil : "not run: a parameter must be given"
  }

  private var failure: FetchFailure? {
    if case .failure(let failure)? = trial { failure } else { nil }
  }

  private func problem(in configuration: Configuration?) -> ConfigurationProblem? {
    guard let failure else { return nil }
    let definition = entry.definition
    let defaults = definition.parameters.map(\.name).joined(separator: ", ")
    let message =
      defaults.isEmpty
      ? "the query fails: \(failure.detail)"
      : "the query fails with the default of \(defaults): \(failure.detail)"
    guard let configuration else {
      return ConfigurationProblem(
        file: nil, position: .start, message: "\(definition.name): \(message)")
    }
    return configuration.problem(in: definition.name, definition.part(of: failure), message)
  }
}

extension QueryDefinition {
  /// What of the query's configuration a failure is about.
  fileprivate func part(of failure: FetchFailure) -> Configuration.Part {
    if failure.kind == .sections { return .word(.section) }
    return if case .declared = form { .word(.table) } else { .word(.sql) }
  }
}

extension QueryParameter {
  fileprivate var text: String {
    "\(name) (\(type.rawValue)\(defaultValue == nil ? ", must be given" : ""))"
  }
}

extension Query {
  /// What a commit to each of its tables costs.
  fileprivate var costs: String {
    commitCosts.map { "to \($0.tables.joined(separator: ", ")) cost \($0.cost.inWords)" }
      .joined(separator: "; ")
  }
}
