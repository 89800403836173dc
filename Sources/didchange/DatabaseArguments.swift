import ArgumentParser
import Demo
import RecordsAPI

/// The arguments that say which database and which queries.
struct DatabaseArguments: ParsableArguments {
  @Argument(
    help: "The SQLite database file. Without one, that of the configuration, else a demo.",
    completion: .file())
  var database: String?

  @Option(
    help: "The configuration file, YAML or JSON. Without one, each table and view is a query.",
    completion: .file(extensions: ["yaml", "yml", "json"]))
  var config: String?

  func validate() throws {
    let suffixes = [".yaml", ".yml", ".json"]
    if let database, config == nil, suffixes.contains(where: database.hasSuffix) {
      throw ValidationError("\(database) is no database; did you mean --config \(database)?")
    }
  }

  func settings() throws -> LaunchSettings { try reportingProblems { try readSettings() } }

  /// - Throws: `ConfigurationProblems`.
  func readSettings() throws -> LaunchSettings {
    var settings = try LaunchSettings(database: database, configurationFile: config)
    if settings.database == nil { settings.queries = DemoDatabase.queries }
    return settings
  }

  /// Prints all problems of a configuration, one a line, and exits with 1 where there are any.
  func reportingProblems<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let problems as ConfigurationProblems {
      StandardError.write("\(problems)\n")
      throw ExitCode.failure
    }
  }
}
