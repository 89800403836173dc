import Callers
package import FetchedRecords
package import HTTPServer
package import OrderedResults
import Foundation
package import QueryAnalysis

/// What a server is started with: the command line over the configuration file over the defaults.
package struct LaunchSettings: Sendable {
  /// nil: none is named, and whoever starts the server has one to show.
  package var database: String?
  /// Empty: each table and view is a query of its name.
  package var queries: [QueryDefinition]
  /// What the columns of tables mean that are queries by themselves.
  package var columnTypes: ColumnTypes
  package var listen: ListenAddress
  /// Sockets that somebody else opened and keeps, to listen on; then ``listen`` says where they are.
  package var inheritedSockets: [InheritedSocket] = []
  /// nil: there is no page, only the interface.
  package var publicFolder: String?
  /// Where the queries stand in their file, if they are from one.
  package var configuration: Configuration?
  package var feeds: FeedSettings
  package var queryLimits: RefresherLimits
  /// What states are named with.
  package var versionKey: DigestKey
  package var service: ServiceSettings
  /// Whether clients may have any SELECT be a query.
  package var explores = false
  /// nil: everybody may read everything.
  package var callers: CallerSettings?
  /// By the names of queries.
  package var access: [String: QueryAccess]

  /// Reads the configuration file, if one is named.
  ///
  /// Queries without a database are refused: they would hardly be about the tables of a demo.
  package init(database: String?, configurationFile: String?) throws(ConfigurationProblems) {
    if let file = configurationFile { configuration = try .read(file: file) }
    self.database = database ?? configuration?.database
    queries = configuration?.queries ?? []
    columnTypes = configuration?.columnTypes ?? .inferred
    listen = configuration?.listen ?? .standard
    feeds = configuration?.feeds ?? FeedSettings()
    queryLimits = configuration?.queryLimits ?? RefresherLimits()
    versionKey = configuration?.versionKey ?? .standard
    service = configuration?.service ?? ServiceSettings()
    callers = configuration?.callers
    access = configuration?.access ?? [:]
    if let path = self.database {
      let place =
        database == nil ? configuration.map { ($0.file, $0.position(of: .database)) } : nil
      try Self.checkDatabase(path, at: place)
      return
    }
    guard queries.isEmpty else {
      let problem = ConfigurationProblem(
        file: configurationFile ?? "", position: .start, message: "no database is named",
        mend: "add \"database: FILE\", or name one on the command line")
      throw ConfigurationProblems([problem])
    }
  }

  /// Every query, with the one that says who somebody is.
  var extent: QueryCatalog.Extent {
    let claims = [callers.flatMap(Gatekeeper.definition)].compactMap(\.self)
    return queries.isEmpty
      ? .everyTable(columnTypes: columnTypes) : .definitions(queries + claims)
  }

  /// Reads keys or secrets; what is wrong with them is told at the place of `callers`.
  func placingKeyProblems<Result>(
    _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let problem as KeyProblem {
      throw ConfigurationProblems([
        ConfigurationProblem(
          file: configuration?.file, position: configuration?.position(of: .callers) ?? .start,
          message: problem.message)
      ])
    }
  }

  /// SQLite would make a file that is not there, and serve nothing from it.
  private static func checkDatabase(
    _ path: String, at place: (file: String, position: TextPosition)?
  ) throws(ConfigurationProblems) {
    let isThere = FileManager.default.fileExists(atPath: path)
    guard !isThere || NearestFile.isFolder(path) else { return }
    let problem = ConfigurationProblem(
      file: place?.file, position: place?.position ?? .start,
      message: isThere ? "the database \(path) is a folder" : "there is no database \(path)",
      mend: isThere
        ? "name a file in it"
        : NearestFile.mend(path) ?? "name the file that another program writes")
    throw ConfigurationProblems([problem])
  }
}
