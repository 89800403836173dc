import FetchedRecords
import HTTPServer
import OrderedResults
import Yams

/// Walks the tree of a configuration file and notes every problem on its way.
///
/// It goes on after a problem: whoever mends a file wants to hear of everything at once. So a part
/// that is wrong is left out of the configuration, which is only handed out when nothing is wrong.
struct ConfigurationReader {
  let tree: ConfigurationTree
  var configuration: Configuration
  private(set) var problems: [ConfigurationProblem] = []

  init(tree: ConfigurationTree, file: String) {
    self.tree = tree
    configuration = Configuration(file: file)
  }

  mutating func note(_ position: TextPosition, _ message: String, mend: String? = nil) {
    problems.append(
      ConfigurationProblem(
        file: configuration.file, position: position, message: message, mend: mend))
  }

  mutating func note(_ position: TextPosition, _ flaw: Flaw, of what: String? = nil) {
    note(position, (what.map { "\($0): " } ?? "") + flaw.message, mend: flaw.mend)
  }

  mutating func readFile() {
    guard let root = tree.root, root.kind != "nothing" else {
      return note(
        .start, "the file is empty", mend: "begin with \"queries:\", or leave the file out")
    }
    let words = read(root, as: FileWord.self, what: "the configuration")
    for (word, value) in words ?? [] {
      configuration.positions[.file(word)] = value.position
      switch word {
      case .database: configuration.database = text(value, "`database`").map(resolve)
      case .listen: configuration.listen = listen(value)
      case .hosts: configuration.service.hosts = hosts(value)
      case .queries: readQueries(value)
      case .limits: readLimits(value)
      case .timeouts: readTimeouts(value)
      case .cors: configuration.service.crossOrigin = crossOrigin(value)
      case .proxies: configuration.service.server.trustedProxies = proxies(value)
      case .accessLog: configuration.service.accessLog = accessLog(value)
      case .callers: configuration.callers = callers(value)
      case .caches: readCaches(value)
      case .columns: configuration.columnTypes = columnTypes(value, of: nil)
      case .versionKey: configuration.versionKey = versionKey(value) ?? .standard
      }
    }
    takeColumnTypes()
    checkCallers(words?.contains { $0.word == .callers } == true)
  }

  /// A path in the file counts from the file's folder: the file means the same wherever the server
  /// is started.
  func resolve(_ path: String) -> String {
    guard !path.hasPrefix("/"), let slash = configuration.file.lastIndex(of: "/") else {
      return path
    }
    return configuration.file[...slash] + path
  }

  /// The words of queries that are about callers mean something beside `callers` alone, and `callers`
  /// without queries would let everybody who is signed in read every table.
  private mutating func checkCallers(_ areKnown: Bool) {
    if areKnown, configuration.queries.isEmpty, problems.isEmpty {
      note(
        configuration.position(of: .callers), "`callers` without `queries`",
        mend: "name under `queries` what may be read: without them it would be every table")
    }
    if case .headers = configuration.callers?.proof,
      configuration.service.server.trustedProxies.isEmpty, problems.isEmpty
    {
      note(
        configuration.position(of: .callers),
        "`headers` are believed of `proxies`, and none is named",
        mend: "list under `proxies` the addresses of those that say who somebody is")
    }
    guard !areKnown else { return checkTextsOfHeaders() }
    for (name, access) in configuration.access.sorted(by: { $0.key < $1.key }) {
      if let position = configuration.positions[.query(name, .word(.allow))] {
        note(
          position, "the query \"\(name)\" has `allow`, and nobody is told from anybody",
          mend: "say under `callers` how callers are known")
      }
      for parameter in access.claims.keys.sorted() {
        note(
          configuration.position(of: name, .entry(.parameters, parameter)),
          "the parameter \"\(parameter)\" takes a claim, and nobody has any",
          mend: "say under `callers` how callers are known")
      }
    }
  }

  private mutating func listen(_ node: Node) -> ListenAddress? {
    if case .scalar(let scalar) = node, case .integer = YAMLScalar(scalar) {
      note(
        node.position, "`listen` is the number \(scalar.string), not HOST:PORT",
        mend: "write 127.0.0.1:\(scalar.string)")
      return nil
    }
    guard let text = text(node, "`listen`") else { return nil }
    do {
      return try ListenAddress(text)
    } catch {
      note(node.position, error, of: "`listen`")
      return nil
    }
  }

  private mutating func readQueries(_ node: Node) {
    guard let entries = entries(node, "`queries`", example: "NAME: {table: …}") else { return }
    for (name, key, value) in entries {
      if let flaw = QueryName.flaw(name) { note(key.position, flaw) }
      configuration.positions[.query(name, .name)] = key.position
      if let query = query(name, at: key.position, value) { configuration.queries.append(query) }
    }
  }
}
