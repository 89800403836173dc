import Foundation
import ServerSentEvents
import TestSupport
import Testing

/// `STREAMS=19000 DIDCHANGE=.build/release/didchange swift test --filter "Thousands of streams"` for
/// as many as a limit of 20 000 descriptors allows.
@Suite(.endToEnd) struct `Thousands of streams` {
  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// One of twenty never reads while there is a burst of commits: the others lose nothing, the
  /// server's memory stays bounded, and who reads again ends with the right state.
  @Test func `lose nothing though some never read`() throws {
    let count = Self.setting("STREAMS") ?? 200
    let slow = count / 20
    raiseDescriptorLimit()
    let folder = try TemporaryFolder()
    let database = try Database.make(
      folder.file("a.sqlite"),
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO item VALUES (1, 'a'), (2, 'b'), (3, 'c');
      """, journal: .wal)
    let file = try folder.write(
      "database: a.sqlite\nlimits: {logBytes: 500000}\n", to: "didchange.yaml")
    let command = try Command.serve(["--config", file])
    let crowd = try Crowd(
      port: UInt16(command.port) ?? 0, path: "/v1/queries/item/events", count: count, slow: slow)
    try wait("all snapshots") {
      crowd.read(0..<count, milliseconds: 100)
      return crowd.have("\"text\":\"c\"}}]}\n\n\r\n", 0..<count)
    }
    let before = try command.residentBytes()
    let writer = try ForeignWriter(database.path)
    var commits = 0
    // A server that is busy joins commits; what counts is that the log goes round twice. The quick
    // ones are read often enough not to be slow.
    while crowd.bytes(slow) < 1_000_000 {
      for _ in 0..<20 {
        commits += 1
        try writer.commit("UPDATE item SET text = \(Self.text(commits)) WHERE id = 1")
        crowd.read(slow..<count, milliseconds: 0)
      }
      try wait("commit \(commits)") {
        crowd.read(slow..<count, milliseconds: 100)
        return crowd.have(" n\(commits).", slow..<count)
      }
    }
    try writer.commit("UPDATE item SET text = 'the end' WHERE id = 2")
    try wait("the quick ones") {
      crowd.read(slow..<count, milliseconds: 100)
      return crowd.have("the end", slow..<count)
    }
    let after = try command.residentBytes()
    let kinds = crowd.kinds(slow..<count)
    #expect(kinds.count == 1, "\(kinds)")
    // A log, a few states, and for each stalled stream the rest of a unit.
    let growth = after - before
    #expect(growth < 30_000_000 + slow * 10_000, "\(growth) bytes more than \(before)")
    try wait("the slow ones") {
      crowd.read(0..<slow, milliseconds: 100)
      return crowd.have("the end", 0..<slow)
    }
    // A change shows when its change set is whole.
    try wait("whole change sets") {
      crowd.read(0..<slow, milliseconds: 100)
      return (0..<min(slow, 40)).allSatisfy { index in
        (try? model(crowd.text(index)))?.records.dropFirst().first?.values["text"] == "the end"
      }
    }
    for index in 0..<min(slow, 40) { try check(crowd.text(index), commits) }
    let metrics = try HTTPClient(command.base).get("/metrics").text
    let skipped = metrics.firstMatch(of: /didchange_slow_readers_skipped_total (\d+)/)
    print("\(count) streams, \(slow) slow: \(growth) bytes more, \(skipped?.1 ?? "0") skipped")
    #expect(skipped.flatMap { Int($0.1) } == slow)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  /// What a commit writes, as SQL; its end says which commit it is.
  private static func text(_ commit: Int) -> String { "printf('%02000d n%d.', 0, \(commit))" }

  private func check(_ text: [UInt8], _ commits: Int) throws {
    let model = try model(text)
    #expect(model.records.count == 3)
    #expect(model.records[0].values["text"].string?.hasSuffix("0 n\(commits).") == true)
    #expect(model.records[1].values["text"] == "the end")
  }

  /// What a client shows that has read so far.
  private func model(_ text: [UInt8]) throws -> ClientModel {
    var parser = EventParser()
    var events: [ServerSentEvent] = []
    try parser.parse(text) { events.append($0) }
    var model = ClientModel()
    for event in events {
      _ = try model.receive(
        ReceivedEvent(
          event: event, text: "", carriesID: ["snapshot", "didChange"].contains(event.type)))
    }
    return model
  }

  private func wait(_ what: String, _ isSo: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while !isSo() {
      guard ContinuousClock.now < deadline else { throw TimedOut(what) }
    }
  }

  /// The process that is started inherits it.
  private func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

extension Command {
  /// What the system holds in memory for it: man 5 proc.
  fileprivate func residentBytes() throws -> Int {
    let path = "/proc/\(process.identifier)/status"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let line = try #require(text.firstMatch(of: /VmRSS:\s+(\d+) kB/))
    return (Int(line.1) ?? 0) * 1024
  }
}
