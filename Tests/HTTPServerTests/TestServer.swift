import Dispatch
import HTTP1
import HTTPServer
import Locks
import Logging
import Testing

/// A server on a free port of the loopback interface, for the time of a test.
final class TestServer: Sendable {
  let server: Server
  let port: Int
  let host: String
  private let logged: LogLines

  /// The lines of the log so far.
  var log: [String] { logged.lines.withLock { $0 } }

  init(
    configure: (inout ServerSettings) -> Void, handler: @escaping Server.Handler
  ) throws {
    var settings = ServerSettings()
    configure(&settings)
    let logged = LogLines()
    server = Server(
      settings: settings,
      logger: Logger(label: "http") { _ in ListingLogHandler(lines: logged) }, handler: handler)
    self.logged = logged
    port = try server.start().port
    host = settings.host
  }

  func url(_ path: String) -> String {
    "http://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)\(path)"
  }

  /// Returns whether the server came to its end before `timeout`.
  @discardableResult
  func stop(timeout: Duration = .milliseconds(200)) -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    let isOver = DispatchSemaphore(value: 0)
    server.shutdown(timeout: timeout) { isOver.signal() }
    isOver.wait()
    return clock.now - start < timeout
  }
}

private final class LogLines: Sendable {
  let lines = Mutex<[String]>([])
}

private struct ListingLogHandler: LogHandler {
  let lines: LogLines
  var logLevel = Logger.Level.debug
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.message)") } }
}

/// Runs a test against a server, and stops it.
func withServer<Result>(
  configure: (inout ServerSettings) -> Void = { _ in },
  handler: @escaping Server.Handler, _ test: (TestServer) throws -> Result
) throws -> Result {
  let server = try TestServer(configure: configure, handler: handler)
  defer { server.stop() }
  return try test(server)
}

/// Something that one thread makes true and another waits for.
final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let fired = Mutex(0)

  var count: Int { fired.withLock { $0 } }

  func fire() {
    fired.withLock { $0 += 1 }
    semaphore.signal()
  }

  /// Whether it was fired, now or within some seconds.
  func wait(seconds: Int = 10) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
  }
}

/// Waits until something that another thread brings about is so.
func eventually(
  _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) {
  let deadline = ContinuousClock.now + .seconds(10)
  while !condition() {
    guard ContinuousClock.now < deadline else {
      Issue.record("it did not come to this", sourceLocation: sourceLocation)
      return
    }
    pause()
  }
}

extension Response.Body {
  static func text(_ text: String) -> Response.Body { .bytes(Array(text.utf8)) }
}
