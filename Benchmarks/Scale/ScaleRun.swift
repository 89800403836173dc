import ArgumentParser
import Foundation

/// A server with streams that caches may share, caches before it, and clients of these.
final class ScaleRun {
  struct Figures {
    /// Open streams of the server.
    var streams = 0
    /// Of the server for a commit, in milliseconds.
    var originCPU = 0.0
    /// In megabytes.
    var originMemory = 0.0
    /// Of whoever serves the clients: deliveries when commits follow each other at once.
    var perSecond = 0.0
    /// Of all processes, in microseconds, at the pace.
    var cpuOfDelivery = 0.0
    /// From a commit until all clients were shown it, in milliseconds.
    var spread = 0.0
    /// Of whoever serves the clients, in megabytes.
    var memory = 0.0
  }

  private static let firstPort: UInt16 = 16_081
  /// The event that a delivery ends with.
  private static let event = "event: didChange"

  private let database: SampleDatabase
  private let server: ServerProcess
  private let varnishes: [VarnishProcess]
  private let crowd = DeliveryCrowd(counting: "event: snapshot")
  private let clients: Int
  private var expected = 0

  /// - Parameters:
  ///   - executable: the server's.
  ///   - varnish: Varnish's.
  ///   - varnishes: how many; 0: clients ask the server itself.
  ///   - clients: how many, the same number at each.
  /// - Throws: where a program does not start.
  init(_ executable: String, _ varnish: String, varnishes: Int, clients: Int) throws {
    self.clients = clients
    database = try SampleDatabase(rows: 50)
    let server = try ServerProcess(
      executable, database: database.path, queries: "players:\n  table: player\n  order: [id]\n",
      settings: "caches: {streams: \(Self.period())s}")
    self.server = server
    self.varnishes = try (0..<varnishes).map {
      try VarnishProcess(
        varnish, port: Self.firstPort + UInt16($0), before: server.port,
        clients: clients / max(1, varnishes) + 1)
    }
  }

  // Foundation takes a process for running as long as one that was started later has the descriptors
  // that it inherited.
  deinit { for varnish in varnishes { varnish.end() } }

  /// So many seconds that no stream ends during a run.
  private static func period() -> Int {
    let now = Int(Date().timeIntervalSince1970)
    return [3540, 2820, 2000].max { $0 - now % $0 < $1 - now % $1 } ?? 3540
  }

  func measure(commits: Int, rate: Double, burst: Int) throws -> Figures {
    var figures = Figures()
    let ports = varnishes.isEmpty ? [server.port] : varnishes.map(\.port)
    for index in 0..<clients {
      try crowd.open(
        "/v1/queries/players/events", port: ports[index % ports.count],
        // Each address has ports for some 28 000 connections.
        from: UInt8(1 + index / 5000))
    }
    try crowd.read(untilCount: clients)
    crowd.count(instead: Self.event)
    // The first make the server's indexes.
    for _ in 0..<5 { _ = try commit() }
    try pace(commits, rate, &figures)
    let start = ContinuousClock.now
    var times: [Double] = []
    for _ in 0..<burst { times.append(try commit()) }
    let seconds = (ContinuousClock.now - start).milliseconds / 1000
    figures.perSecond = Double(burst * clients) / seconds
    figures.spread = times.median ?? 0
    figures.streams = Int(try server.metric("streams"))
    figures.originMemory = server.residentMemory
    figures.memory =
      varnishes.isEmpty ? server.residentMemory : varnishes.reduce(0) { $0 + $1.residentMemory }
    return figures
  }

  private func pace(_ commits: Int, _ rate: Double, _ figures: inout Figures) throws {
    let (origin, caches) = (server.cpuTime, varnishes.reduce(0) { $0 + $1.cpuTime })
    var next = ContinuousClock.now
    for _ in 0..<commits {
      _ = try commit()
      next += .seconds(1 / rate)
      Thread.sleep(forTimeInterval: max(0, (next - ContinuousClock.now).milliseconds / 1000))
    }
    let cpu = server.cpuTime - origin
    figures.originCPU = cpu / Double(commits)
    figures.cpuOfDelivery =
      (cpu + varnishes.reduce(0) { $0 + $1.cpuTime } - caches) * 1000 / Double(commits * clients)
  }

  /// Commits, and waits until all clients were shown it; milliseconds.
  private func commit() throws -> Double {
    expected += clients
    try database.write("UPDATE player SET score = score + 1 WHERE id = 1")
    let start = ContinuousClock.now
    try crowd.read(untilCount: expected)
    return (ContinuousClock.now - start).milliseconds
  }
}
