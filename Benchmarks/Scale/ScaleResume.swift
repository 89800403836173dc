import ArgumentParser
import Foundation

/// Clients that come back to a server that was restarted, with the last version that they have.
enum ScaleResume {
  struct Figures {
    /// Until each was told that it goes on, in milliseconds.
    var time = 0.0
    /// The server's until then, with its start, in milliseconds.
    var cpu = 0.0
    /// To each, the head of the answer among them.
    var bytes = 0.0
    /// What each would be sent who comes without a version.
    var snapshot = 0
    /// From the next commit until all were shown it, in milliseconds.
    var commit = 0.0
  }

  static let rows = 1000
  private static let path = "/v1/queries/players/events"
  private static let queries = "players:\n  table: player\n  order: [id]\n"
  /// One machine may take what else a thousand of them share.
  private static let settings =
    "limits: {connections: 100000, connectionsPerAddress: 100000, streamsPerAddress: 100000}"

  static func measure(_ executable: String, clients: Int) throws -> Figures {
    let database = try SampleDatabase(rows: rows)
    let port: UInt16
    let (version, snapshot): (String, Int)
    do {
      let server = try ServerProcess(
        executable, database: database.path, queries: queries, settings: settings)
      port = server.port
      (version, snapshot) = try firstSnapshot(port)
      _ = server.terminate()
    }
    let server = try ServerProcess(
      executable, database: database.path, queries: queries, settings: settings, port: port)
    var figures = Figures()
    figures.snapshot = snapshot
    let opened = DeliveryCrowd(counting: "retry:")
    let start = ContinuousClock.now
    for index in 0..<clients {
      try opened.open(
        path, port: port, from: UInt8(1 + index / 5000), fields: "Last-Event-ID: \(version)\r\n")
    }
    try opened.read(untilCount: clients)
    figures.time = (ContinuousClock.now - start).milliseconds
    figures.cpu = server.cpuTime
    // Whatever else they are sent.
    try opened.readUntilQuiet(milliseconds: 500)
    figures.bytes = Double(opened.bytes) / Double(clients)
    figures.commit = try commit(database, to: opened)
    return figures
  }

  /// The id and the bytes of what a client is sent first.
  private static func firstSnapshot(_ port: UInt16) throws -> (String, Int) {
    let text = try EventSocket.get("/v1/queries/players/records?limit=10000", port: port)
    guard let match = text.firstMatch(of: #/"version":"([^"]+)"/#) else {
      throw ValidationError("no version in \(text.prefix(300))")
    }
    return (String(match.1), text.utf8.count)
  }

  /// Commits, and waits until bytes have come to all.
  private static func commit(_ database: SampleDatabase, to crowd: DeliveryCrowd) throws -> Double {
    crowd.count(instead: "event: didChange")
    try database.write("UPDATE player SET score = score + 1 WHERE id = 1")
    let start = ContinuousClock.now
    try crowd.read(untilCount: crowd.streams)
    return (ContinuousClock.now - start).milliseconds
  }
}
