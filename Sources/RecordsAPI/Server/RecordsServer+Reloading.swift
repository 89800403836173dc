import Callers
import FetchedRecords
import HTTPServer
import Logging
package import OrderedResults

// Another configuration in the place of the one that the server runs by.
extension RecordsServer {
  /// Goes by other settings from now on, all of them or none; one reload at a time.
  ///
  /// Queries that did not change keep their streams and versions. Those that did go on with the
  /// difference, or with a snapshot where the records have another layout; where their parameters
  /// changed their streams end and come back, and those of queries that are gone are answered 204
  /// then. Keys and secrets are read again. Where it listens, and what is said once at the start, stays:
  /// the log says what waits for a restart.
  ///
  /// - Throws: ``ConfigurationProblems``, or why the database cannot be read; then nothing has changed.
  package func reload(_ settings: LaunchSettings) throws {
    let old = present.current
    var settings = settings
    let words = settings.keep(old.settings)
    try settings.checkPublicFolder()
    try settings.checkExploring()
    let gate = try old.nextGate(settings, logger)
    var service = old.service.with(settings.feeds, gate.gatekeeper)
    service.exploring = service.exploring.map { Exploring($0.explorations, settings) }
    let handler = try Self.handler(service, settings)
    let ended = try replaceQueries(settings)
    if let rules = gate.rules { gate.gatekeeper?.use(rules) }
    let accessLog = accessLog(old, settings)
    present.use(.init(settings: settings, service: service, accessLog: accessLog))
    registry.tell { failure, query in gate.gatekeeper?.told(failure, of: query) ?? failure }
    server.use(settings.serverSettings(accessLog), handler: handler)
    if gate.isOther {
      old.service.gate?.retire()
      registry.end { _ in true }
    } else if !ended.isEmpty {
      registry.end(ended.contains)
    }
    for word in words {
      logger.warning("`\(word)` was changed, and is read at the start only: restart for it")
    }
  }

  private func replaceQueries(_ settings: LaunchSettings) throws -> Set<String> {
    do {
      return try registry.refresher.replaceQueries(by: settings.extent)
    } catch let refused as RefusedQueries {
      throw settings.configuration?.problems(refused) ?? refused
    }
  }

  private func accessLog(_ old: PresentService.State, _ settings: LaunchSettings) -> AccessLog? {
    guard let log = old.accessLog else {
      return settings.service.accessLog.map { AccessLog($0, logger: accessLogger) }
    }
    log.use(settings.service.accessLog)
    return log
  }
}

/// Who tells callers from each other from now on.
private struct NextGate {
  let gatekeeper: Gatekeeper?
  /// What the same one goes by; nil: it is another one, or there is none.
  var rules: Gatekeeper.Rules?
  /// Whether whoever was let in has to show again who they are.
  var isOther = false
}

extension PresentService.State {
  fileprivate func nextGate(_ new: LaunchSettings, _ logger: Logger) throws -> NextGate {
    guard let gate = service.gate, new.callers == settings.callers else {
      let gate = try new.makeGate(logger: logger)
      return NextGate(gatekeeper: gate, isOther: gate != nil || service.gate != nil)
    }
    let rules = try new.placingKeyProblems {
      try gate.rules(new.access, crossOrigin: new.service.crossOrigin)
    }
    return NextGate(gatekeeper: gate, rules: rules)
  }
}

extension LaunchSettings {
  /// Takes over from settings that are in force what cannot change under a running server.
  ///
  /// - Returns: the words of the configuration that would have changed it.
  fileprivate mutating func keep(_ old: LaunchSettings) -> [String] {
    var words: [String] = []
    func keep<Value: Equatable>(_ word: String, _ path: WritableKeyPath<Self, Value>) {
      if self[keyPath: path] != old[keyPath: path] { words.append(word) }
      self[keyPath: path] = old[keyPath: path]
    }
    keep("database", \.database)
    keep("listen", \.listen)
    keep("versionKey", \.versionKey)
    keep("limits: connections", \.service.server.maximumConnections)
    keep("limits: readers, resultRows, resultBytes or memory", \.queryLimits)
    let (heartbeat, sharedStreams) = (feeds.heartbeat, feeds.sharedStreams)
    (feeds.heartbeat, feeds.sharedStreams) = (old.feeds.heartbeat, old.feeds.sharedStreams)
    keep("limits: controllers and what follows it", \.feeds)
    (feeds.heartbeat, feeds.sharedStreams) = (heartbeat, sharedStreams)
    return words
  }
}

extension DigestKey: Equatable {
  /// Whether they give everything the same digest, but for odds below 2⁻¹⁰⁰.
  package static func == (left: DigestKey, right: DigestKey) -> Bool {
    left.digest(of: "key").text == right.digest(of: "key").text
  }
}
