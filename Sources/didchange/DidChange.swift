import ArgumentParser
import Foundation
import RecordsAPI

@main
struct DidChange: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "didchange",
    abstract: "Serves live queries over an SQLite database.",
    discussion: """
      Whoever commits to the database, clients of the server see what changed: ordered changes \
      with index paths, over HTTP and server-sent events.
      """,
    version: ServerVersion.number,
    subcommands: [Serve.self, Reload.self, Check.self, Watch.self, Healthcheck.self],
    defaultSubcommand: Serve.self)

  /// As ArgumentParser does it, but for what a terminal would obey in the text of an error: a path,
  /// or what SQLite says of a schema.
  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      let code = exitCode(for: error)
      let message = fullMessage(for: error)
      if !message.isEmpty {
        if code.isSuccess {
          StandardOutput.write(message + "\n")
        } else {
          StandardError.write(message + "\n")
        }
      }
      Foundation.exit(code.rawValue)
    }
  }
}
