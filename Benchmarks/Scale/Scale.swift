import ArgumentParser
import Foundation

/// One server and many clients: behind caches that share streams, and after a restart.
struct Scale: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What the server does for clients behind one and two Varnishes, and for who resumes.",
    discussion: """
      Each row has a server and Varnishes of its own, with the recipe of Scripts/proxies: run it in the \
      folder of the package. All clients are one thread of this process. Descriptors bound their \
      number: raise `ulimit -n`. Without varnishd the first part is left out.
      """)

  @Option(parsing: .upToNextOption, help: "Clients of the runs.") var clients = [1, 100, 5000]
  @Option(help: "Commits of a run, at a pace.") var commits = 20
  @Option(help: "Commits a second.") var rate = 2.0
  @Option(help: "Commits of a run, each when all have been shown the one before.") var burst = 50
  @Option(help: "Clients that resume at a server that was restarted.") var resumed = 10_000
  @Flag(help: "Only resuming.") var onlyResume = false
  @Option(help: "The server's executable.") var server = ".build/release/didchange"
  @Option(help: "Varnish's.") var varnish = "/usr/sbin/varnishd"

  func run() throws {
    // Each client takes a descriptor here, and one of the program that serves it.
    let most = DescriptorLimit.raise() - 200
    if onlyResume || !FileManager.default.isExecutableFile(atPath: varnish) {
      if !onlyResume { print("no \(varnish): only resuming\n") }
    } else {
      try printCaches(clients.map { min($0, most) })
    }
    let count = min(resumed, most)
    let figures = try ScaleResume.measure(server, clients: count)
    print("\n\(count) clients resume at a restarted server, of \(ScaleResume.rows) records\n")
    printTable(
      [
        "all resumed after, ms", "server CPU, ms", "bytes to each, head and all",
        "a snapshot, bytes", "and then shown a commit after, ms",
      ],
      [
        [
          figures.time.short, figures.cpu.short, figures.bytes.short, "\(figures.snapshot)",
          figures.commit.short,
        ]
      ])
  }

  private func printCaches(_ clients: [Int]) throws {
    var rows: [[String]] = []
    var deliveries: [[String]] = []
    for varnishes in 0...2 {
      for count in clients {
        let run = try ScaleRun(server, varnish, varnishes: varnishes, clients: count)
        let figures = try run.measure(commits: commits, rate: rate, burst: burst)
        let title = varnishes == 0 ? "nothing" : "\(varnishes) Varnish"
        rows.append([
          title, "\(count)", "\(figures.streams)", figures.originCPU.short,
          figures.originMemory.short,
        ])
        if count == clients.max() {
          deliveries.append([
            title, "\(count)", figures.perSecond.short, figures.cpuOfDelivery.short,
            figures.spread.short, figures.memory.short,
          ])
        }
      }
    }
    print("The server, \(commits) commits at \(rate.short) a second\n")
    let header = ["clients", "streams at the server", "its CPU a commit, ms", "its memory, MB"]
    printTable(["behind"] + header, rows)
    print("\nWhoever serves the clients\n")
    printTable(
      [
        "behind", "clients", "deliveries a second", "CPU of a delivery, µs",
        "from a commit to the last client p50, ms", "memory, MB",
      ], deliveries)
  }
}
