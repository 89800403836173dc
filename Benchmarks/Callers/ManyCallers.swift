import ArgumentParser
import Foundation

/// Callers who are told apart, each with a stream of what is theirs.
struct ManyCallers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "callers",
    abstract: "Commits, sign-outs, memory and opening with many callers, and what a token costs.",
    discussion: """
      Each caller has an opaque token, a row of the `claims` statement, and a stream of a query by \
      their claim. Servers take turns: few callers and many, and the same streams without `callers`, \
      where whoever asks names the customer. All clients are one thread of this process. Descriptors \
      bound the number of callers: raise `ulimit -n`.
      """)

  @Option(help: "Callers of the small server, and of the large one.") var few = 10
  @Option(help: "Callers of the large one.") var callers = 10_000
  @Option(help: "How often the servers take turns.") var rounds = 20
  @Option(help: "Commits of a turn.") var commits = 100
  @Option(help: "Sign-outs of a turn.") var signOuts = 20
  @Option(help: "Streams that are being opened at the same time.") var atOnce = 64
  @Option(help: "Verifications of each kind of token.") var verifications = 2000
  @Flag(help: "Only what a token costs.") var onlyTokens = false
  @Option(help: "The server's executable.") var server = ".build/release/didchange"

  func run() throws {
    if !onlyTokens {
      let callers = min(callers, DescriptorLimit.raise() - few * 3 - 200)
      let with = try measure([(true, few), (true, callers)])
      // Two servers with so many streams may take more descriptors than one process has.
      let without = try measure([(true, few), (false, few), (false, callers)])
      print("\(rounds) turns of \(commits) commits and \(signOuts) sign-outs, milliseconds\n")
      printTable(
        ["", "\(few) callers", "\(callers) callers", "ratio"], rows(with[0], with[1]))
      print("\nEach caller, or whoever asks for the same where nobody is told from anybody\n")
      printTable(
        ["", "with `callers`", "without", "ratio"],
        [
          row("opened a second", with[1], without[2], \.openedPerSecond),
          row("server CPU of opening, µs", with[1], without[2], \.cpuOfOpening),
          comparison(
            "KiB a stream", with[1].memory(above: with[0]), without[2].memory(above: without[1])),
          row("\(few) streams, commit to event p50, ms", without[0], without[1], \.p50),
          row("\(callers) streams, commit to event p50, ms", with[1], without[2], \.p50),
        ])
    }
    print("\nmicroseconds, medians of \(verifications)\n")
    printTable(TokenCosts.header, try TokenCosts(runs: verifications).rows())
  }

  /// Measures servers that take turns.
  private func measure(_ kinds: [(hasCallers: Bool, count: Int)]) throws -> [CallersFigures] {
    let crowd = StreamCrowd()
    let servers = try kinds.map {
      try CallersServer(server, hasCallers: $0.hasCallers, count: $0.count, crowd: crowd)
    }
    for server in servers {
      try server.openAll(atOnce: atOnce)
      try server.measureMemory()
      // The first changes make the server's indexes.
      try server.commit(commits)
      if server.hasCallers { try server.signOut(signOuts) }
      server.forget()
    }
    for _ in 0..<rounds {
      for server in servers { try server.commit(commits) }
      for server in servers where server.hasCallers { try server.signOut(signOuts) }
    }
    return servers.map(\.figures)
  }

  private func rows(_ few: CallersFigures, _ many: CallersFigures) -> [[String]] {
    [
      [
        "commit to event, p50", few.p50.short, many.p50.short,
        CallersFigures.ratio(many.commits, few.commits).short,
      ],
      comparison("p99", few.commits.percentile(99), many.commits.percentile(99), isGrowth: true),
      comparison("server CPU of a commit", few.cpuOfCommit, many.cpuOfCommit, isGrowth: true),
      [
        "sign-out to the end of the stream, p50", few.signOuts.percentile(50).short,
        many.signOuts.percentile(50).short,
        CallersFigures.ratio(many.signOuts, few.signOuts).short,
      ],
      comparison("p99", few.signOuts.percentile(99), many.signOuts.percentile(99), isGrowth: true),
    ]
  }

  private func row(
    _ title: String, _ with: CallersFigures, _ without: CallersFigures,
    _ figure: KeyPath<CallersFigures, Double>
  ) -> [String] {
    comparison(title, with[keyPath: figure], without[keyPath: figure])
  }

  /// Two figures, and the quotient of the first to the second, or the other way where it tells growth.
  private func comparison(
    _ title: String, _ first: Double, _ second: Double, isGrowth: Bool = false
  ) -> [String] {
    [title, first.short, second.short, (isGrowth ? second / first : first / second).short]
  }
}
