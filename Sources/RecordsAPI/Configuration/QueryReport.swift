import FetchedRecords
import Foundation
import OrderedResults

/// What SQLite makes of a query, for people to read.
package struct QueryReport {
  private let entry: QueryCatalog.Entry

  /// Opens the database, and prepares all queries of the settings.
  ///
  /// - Throws: ``ConfigurationProblems`` with the problems of all queries; a table that cannot be
  ///   one where no queries are named is reported as such.
  package static func all(_ settings: ServerSettings, database: String) throws -> [QueryReport] {
    let source: QueryCatalog.Source =
      settings.queries.isEmpty ? .everyTable : .definitions(settings.queries)
    do {
      let refresher = try Refresher(path: database, source: source)
      return refresher.catalog.all.map { QueryReport(entry: $0) }
    } catch let refused as RefusedQueries {
      throw settings.configuration?.problems(refused) ?? refused
    } catch let failure as FetchFailure {
      let problem = ConfigurationProblem(
        file: database, position: .start, message: failure.detail)
      throw ConfigurationProblems([problem])
    }
  }

  /// A block of lines, a fact a line, the SQL indented below.
  package var text: String {
    let definition = entry.definition
    var lines = [definition.name + (definition.title.map { ": \($0)" } ?? "")]
    func add(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      lines.append("  " + name.padding(toLength: 12, withPad: " ", startingAt: 0) + value)
    }
    switch entry.analysis {
    case .failure(let refused): add("problem", FetchFailure(refused).detail)
    case .success(let query):
      add("columns", query.layout.columns.joined(separator: ", "))
      add("key", query.layout.key == nil ? "none" : query.layout.keyNames.joined(separator: ", "))
      add("section", definition.section)
      add("parameters", definition.parameters.map(\.text).joined(separator: ", "))
      add("alongside", definition.alongside.map(\.name).joined(separator: ", "))
      add("tracking", "\(query.tracking.mode.rawValue): \(query.tracking.reason)")
      lines.append("  sql")
      lines += query.sql.split(separator: "\n").map { "    \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension QueryParameter {
  fileprivate var text: String {
    "\(name) (\(type.rawValue)\(defaultValue == nil ? ", must be given" : ""))"
  }
}
