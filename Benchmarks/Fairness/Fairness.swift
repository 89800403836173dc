import ArgumentParser
import Foundation

/// What an ordinary client notices of others who take all they can get.
struct Fairness: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Events and short requests of one client, alone and beside others that ask for much.",
    discussion: """
      Each row has a server of its own. Descriptors bound the number of windows: raise `ulimit -n`.
      """)

  @Option(help: "Commits of each run, one row each.") var commits = 200
  @Option(help: "Commits a second.") var rate = 20.0
  @Option(help: "Windows of one query, each on a stream of its own.") var windows = 32_000
  @Option(parsing: .upToNextOption, help: "Which attacks; none: all.") var attacks: [Attack] = []
  @Option(help: "The server's executable.") var server = ".build/release/didchange"

  func run() throws {
    // Each window takes a descriptor here and one of the server's, which keep some for others.
    let windows = min(windows, DescriptorLimit.raise() - 1000)
    var table: [[String]] = []
    var quiet: FairnessRun.Figures?
    let others = attacks.isEmpty ? Attack.allCases.filter { $0 != .none } : attacks
    for attack in [.none] + others {
      let run = try FairnessRun(server, attack, windows: windows)
      let figures = try run.measure(commits: commits, rate: rate)
      quiet = quiet ?? figures
      let ratio = figures.p99 / (quiet ?? figures).p99
      table.append([
        run.title, figures.p50.short, figures.p99.short, ratio.short, figures.slowest.short,
        figures.getP50.short, figures.getMaximum.short, figures.memory.short, figures.exit.short,
        figures.toldAll.map(\.short) ?? "",
      ])
      print("\(table[table.count - 1].joined(separator: " | "))")
    }
    print("\n\(commits) commits each, \(rate.short) a second, milliseconds\n")
    printTable(
      [
        "beside", "commit to event p50", "p99", "p99 to quiet", "slowest", "new GET p50", "slowest",
        "server MB", "SIGTERM to exit", "insertion told to all windows",
      ], table)
  }
}

/// Clients that ask for much.
enum Attack: String, CaseIterable, ExpressibleByArgument {
  case none, endless, fourEndless, slowLive, largeTable, schemaChanges, largeGets, manyQueries,
    windows, windowStreams

  /// As many as a stream may have.
  static let windowsOfStream = 64
  static let streamsOfWindows = 500

  var title: String {
    switch self {
    case .none: "nobody"
    case .endless: "an endless query"
    case .fourEndless: "four endless queries"
    case .slowLive: "a slow live query of the same table"
    case .largeTable: "whatever is done with \(LargeTableUse.rows) rows of another table"
    case .schemaChanges: "a table that comes and goes, beside one of \(LargeTableUse.rows) rows"
    case .largeGets: "150 GETs of 6 MB"
    case .manyQueries: "157 streams of 64 queries"
    case .windows: "windows of the same query"
    case .windowStreams:
      "\(Self.streamsOfWindows) streams of \(Self.windowsOfStream) windows each"
    }
  }

  /// What each client asks for.
  func paths(windows: Int) -> [String] {
    switch self {
    case .none, .largeTable, .schemaChanges: []
    case .endless: ["/v1/queries/endless/records"]
    case .fourEndless: (1...4).map { "/v1/queries/endless/records?from=\($0)" }
    case .slowLive: ["/v1/queries/slow/events?snapshot=false"]
    case .largeGets: (1...150).map { "/v1/queries/large/records?limit=10000&n=\(10_000 + $0)" }
    case .manyQueries:
      (0..<157).map { stream in
        let queries = (0..<64).map { "query=cheap%3Fn%3D\(1_000_000 + stream * 64 + $0)" }
        return "/v1/events?" + queries.joined(separator: "&")
      }
    case .windows:
      (0..<windows).map { "/v1/queries/players/events?snapshot=false&offset=\($0)&limit=10" }
    case .windowStreams:
      (0..<Self.streamsOfWindows).map { stream in
        let queries = (0..<Self.windowsOfStream).map {
          "query=players%3Foffset%3D\(stream * Self.windowsOfStream + $0)%26limit%3D10"
        }
        return "/v1/events?" + queries.joined(separator: "&")
      }
    }
  }
}
