import ArgumentParser
import Demo
import Dispatch
import Foundation
import HTTPServer
import HeldMemory
import Logging
import RecordsAPI

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves the queries until SIGTERM or SIGINT.",
    discussion: """
      Prints one line to standard output when it is ready, "listening on http://HOST:PORT"; logs \
      go to standard error. The first signal ends all streams after a whole event, a second one \
      exits at once. SIGHUP has the configuration read again. Under systemd it says how it is \
      (Type=notify), and listens on the sockets that it is handed (LISTEN_FDS).
      """)

  @OptionGroup var arguments: DatabaseArguments

  @Option(help: "The address to listen on. (default: 127.0.0.1)")
  var host: String?

  @Option(help: "The port to listen on; 0 takes a free one. (default: 8080)")
  var port: UInt16?

  @Option(help: "Listen on a Unix-domain socket at this path instead.", completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "Write each request to standard error: json, line, or a line with words such as {client}.",
      valueName: "format"),
    transform: AccessLogFormat.argument)
  var accessLog: AccessLogFormat?

  @Option(
    name: .customLong("public"), help: "The folder with the files of the page.",
    completion: .directory)
  var publicFolder: String?

  @Flag(
    help: """
      Let whoever reaches the page type in any SELECT and see it live: on a loopback address or a \
      Unix-domain socket only, or for `operators` under `callers`.
      """)
  var explore = false

  @Option(
    help: "What to log: \(Logger.Level.listed). (default: info)", transform: Logger.Level.read)
  var logLevel: Logger.Level?

  @Option(help: "How to write the log: text, or json, an object a line. (default: text)")
  var logFormat: LogFormat?

  @Option(
    help: "Keep the process's number in this file, for didchange reload.", completion: .file())
  var pidFile: String?

  func validate() throws {
    _ = try Flaw.telling("--host: ") { () throws(Flaw) in
      try ListenAddress.standard.with(host: host, port: port)
    }
    guard let socket else { return }
    guard host == nil, port == nil else {
      throw ValidationError("--socket stands instead of --host and --port: leave these out")
    }
    _ = try Flaw.telling("--socket: ") { () throws(Flaw) in try ListenAddress(socketPath: socket) }
  }

  func run() throws {
    FreedMemory.shareHeaps()
    // A log whose reader has gone must not end the server.
    signal(SIGPIPE, SIG_IGN)
    // Nor must a file that may grow no further: man 2 setrlimit.
    signal(SIGXFSZ, SIG_IGN)
    let descriptors = DescriptorLimit.raise()
    try DescriptorLimit.checkForServer()
    let signals = TerminationSignals()
    let hangup = HangupSignal()
    let manager = ServiceManager()
    let logger = makeLogger()
    var settings = try arguments.reportingProblems { try readSettings() }
    let pidFile = try pidFile.map { path throws(PIDFile.Failure) in try PIDFile(path: path) }
    defer { pidFile?.remove() }
    let demo = settings.database == nil ? try DemoDatabase() : nil
    defer { demo?.remove() }
    if let demo {
      settings.database = demo.path
      logger.info("no database named: the demo is in \(demo.path)")
    }
    if settings.publicFolder == nil {
      logger.notice("\(Self.noPageAdvice)")
    }
    let connections = settings.service.maximumConnections
    if let descriptors, descriptors < connections {
      logger.info(
        "the system allows \(descriptors) open files: of \(connections) connections, the rest wait; ulimit -Hn sets it"
      )
    }
    let (server, address) = try arguments.reportingProblems {
      let server = try RecordsServer(
        settings, logger: logger, accessLogger: Logger(label: Self.accessLabel))
      return (server, try server.start())
    }
    demo?.startWriting(logger: logger)
    let reloading = Reloading(server, manager, logger)
    hangup.react { [demoPath = demo?.path, end = signals.end] in
      reloading.run(orEnd: end) {
        var settings = try readSettings()
        if let demoPath { settings.database = demoPath }
        return settings
      }
    }
    StandardOutput.write("listening on \(address.url)\n")
    manager.ready()
    // Not in the message itself, which is made only where its level is logged.
    let signal = signals.wait()
    let end = DispatchTime.now() + Self.patience
    logger.info("\(signal): draining")
    manager.stopping()
    // Half of the two seconds: the other is for a machine whose processors others want, too.
    let drained = DispatchSemaphore(value: 0)
    server.drain(timeout: .milliseconds(800)) { drained.signal() }
    let isDrained = drained.wait(timeout: end) == .success
    guard TerminalLogHandler.queue.flush(within: 0.2), isDrained else {
      // `exit` would wait for the line that nobody takes, or for a function that SQLite is in.
      demo?.remove()
      pidFile?.remove()
      _exit(EXIT_SUCCESS)
    }
  }

  /// After this nothing is waited for but the log.
  private static let patience = DispatchTimeInterval.milliseconds(1000)

  /// The configuration as it is now, under the words of the command line.
  private func readSettings() throws -> LaunchSettings {
    var settings = try arguments.readSettings()
    settings.inheritedSockets = try InheritedSocket.all()
    settings.listen =
      try settings.inheritedSockets.first.map { ListenAddress($0) }
      ?? socket.map { try ListenAddress(socketPath: $0) }
      ?? settings.listen.with(host: host, port: port)
    if let accessLog { settings.service.accessLog = accessLog }
    settings.explores = explore
    settings.publicFolder = try PublicFolder.find(named: publicFolder)
    return settings
  }

  private static let noPageAdvice = """
    there is no page, only the interface: the folder Public is neither beside the program, nor in \
    ../share/didchange, nor here; --public or \(PublicFolder.variable) names it
    """

  /// The label of the logger for requests.
  private static let accessLabel = "didchange.access"

  private func makeLogger() -> Logger {
    let (level, logFormat) = (logLevel ?? .info, logFormat)
    LoggingSystem.bootstrap { label in
      if label == Self.accessLabel { return BareLogHandler() }
      if logFormat == .json { return JSONLogHandler(label: label, logLevel: level) }
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return TerminalLogHandler(handler)
    }
    return Logger(label: "didchange")
  }
}

/// How the log is written.
enum LogFormat: String, ExpressibleByArgument {
  case text, json
}

extension Logger.Level {
  fileprivate static let listed = allCases.map(\.rawValue).joined(separator: ", ")

  @Sendable fileprivate static func read(_ text: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: text) else {
      throw ValidationError("\"\(text)\" is none of \(listed)")
    }
    return level
  }
}

extension AccessLogFormat {
  @Sendable fileprivate static func argument(_ text: String) throws -> AccessLogFormat {
    try Flaw.telling { () throws(Flaw) in try AccessLogFormat(text) }
  }
}

extension Flaw {
  /// Tells what is wrong with an argument.
  fileprivate static func telling<Result>(
    _ name: String = "", _ body: () throws(Flaw) -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      throw ValidationError("\(name)\(error.message); \(error.mend)")
    }
  }
}
