import ArgumentParser

@main
struct DidChange: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "didchange",
    abstract: "Serves live queries over an SQLite database.",
    discussion: """
      Whoever commits to the database, clients of the server see what changed: ordered changes \
      with index paths, over HTTP and server-sent events.
      """,
    version: "0.1.0",
    subcommands: [Serve.self, Check.self, Watch.self, Healthcheck.self],
    defaultSubcommand: Serve.self)
}
