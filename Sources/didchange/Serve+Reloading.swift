import Foundation
import Logging
import RecordsAPI

extension Serve {
  /// What SIGHUP does to a server: its configuration is read again, and stays as it was where there
  /// is a problem.
  struct Reloading: Sendable {
    let server: RecordsServer
    let manager: ServiceManager
    let logger: Logger
    /// Whether the process was started at a terminal, whose end is told by the same signal.
    private let hadTerminal = isatty(STDERR_FILENO) == 1

    init(_ server: RecordsServer, _ manager: ServiceManager, _ logger: Logger) {
      (self.server, self.manager, self.logger) = (server, manager, logger)
    }

    /// - Parameters:
    ///   - end: ends the process, where the signal meant that.
    ///   - read: reads the configuration.
    func run(orEnd end: (_ signal: Int32) -> Void, reading read: () throws -> LaunchSettings) {
      if hadTerminal, isatty(STDERR_FILENO) == 0 { return end(SIGHUP) }
      manager.reloading()
      defer { manager.ready() }
      do {
        try server.reload(try read())
        logger.notice("read the configuration again")
      } catch {
        logger.error("the configuration stays as it was: \(Self.line(error))")
      }
    }

    /// One line: the first problem, and how many more there are.
    private static func line(_ error: any Error) -> String {
      guard let problems = (error as? ConfigurationProblems)?.problems, let first = problems.first
      else { return "\(error)" }
      if problems.count == 1 { return "\(first)" }
      return "\(first) (and \(problems.count - 1) more; didchange check lists all)"
    }
  }
}
