import FetchedRecords
import Foundation
import TestSupport
import Logging
import RecordsAPI

/// A server of a database in a temporary folder, in this process, on a real socket.
final class ServerFixture {
  let folder: TemporaryFolder
  let database: Database
  let base: String
  private let server: RecordsServer
  private let configuration: String?

  var path: String { database.path }

  /// Serves what `schema` makes.
  ///
  /// `queries` are those of a configuration file, and `words` all else that it says; without it
  /// each table and view is one. `files` stand beside it, by their names. The database is a `file`
  /// in a folder of its own, or a symbolic link to one that is elsewhere.
  init(
    _ schema: String, journal: JournalMode = .wal, queries: String? = nil,
    words: String = "", files: [String: String] = [:], logger: Logger = ServerFixture.silent,
    file: String = "music.sqlite", linkTo target: String? = nil, explores: Bool = false,
    feeds: (inout FeedSettings) -> Void = { _ in },
    service: (inout ServiceSettings) -> Void = { _ in },
    limits: (inout RefresherLimits) -> Void = { _ in }
  ) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    if let target {
      database = Database(path: folder.file(file))
      try folder.link(file, to: target)
    } else {
      database = try .make(folder.file(file), schema, journal: journal)
    }
    for (name, text) in files { try folder.write(text, to: name) }
    configuration = try queries.map { text in
      try folder.write(words + "queries:\n" + text.indented, to: "didchange.yaml")
    }
    server = try Self.serve(database.path, configuration, logger) {
      $0.explores = explores
      feeds(&$0.feeds)
      service(&$0.service)
      limits(&$0.queryLimits)
    }
    base = "http://\(try server.start())"
  }

  /// Serves what another server has served, which was drained.
  convenience init(after other: ServerFixture) throws { try self.init(beside: other) }

  /// Serves what another server serves.
  init(beside other: ServerFixture) throws {
    (folder, database, configuration) = (other.folder, other.database, other.configuration)
    server = try Self.serve(database.path, configuration, Self.silent) { _ in }
    base = "http://\(try server.start())"
  }

  private static func serve(
    _ path: String, _ configuration: String?, _ logger: Logger,
    _ set: (inout LaunchSettings) -> Void
  ) throws -> RecordsServer {
    var settings = try LaunchSettings(database: path, configurationFile: configuration)
    settings.listen = try settings.listen.with(host: nil, port: 0)
    set(&settings)
    return try RecordsServer(settings, logger: logger)
  }

  /// Of a server whose log nobody reads.
  static let silent: Logger = {
    var logger = Logger(label: "end-to-end") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    return logger
  }()

  deinit { drain() }

  /// Ends all streams and waits until the last connection is closed.
  func drain() {
    let drained = DispatchSemaphore(value: 0)
    server.drain(timeout: .seconds(2)) { drained.signal() }
    drained.wait()
  }

  func client() -> HTTPClient { HTTPClient(base) }

  /// One request on a connection of its own.
  func get(_ path: String, _ fields: [String] = []) throws -> HTTPClient.Answer {
    try client().get(path, fields)
  }

  func stream(_ path: String, _ options: EventStream.Options = .init()) -> EventStream {
    EventStream(base, path, options, owner: self)
  }

  /// A client of a query that has its snapshot.
  func follow(_ query: String, _ items: String = "") throws -> Follower {
    let follower = Follower(stream("/v1/queries/\(query)/events\(items)"))
    try follower.expectSnapshot()
    return follower
  }

  func writer(_ tool: ForeignWriter.Tool = .sqlite3) throws -> ForeignWriter {
    try ForeignWriter(path, tool: tool)
  }
}

extension String {
  /// Two more spaces before each line.
  var indented: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { "  " + $0 }
      .joined(separator: "\n") + "\n"
  }
}
