import Foundation
import ServerSentEvents
import TestSupport
import Testing

/// `STREAMS=20000 SLOW=1000 swift test -c release --filter "Thousands of streams"` for more of them.
/// Both this process and the server need a descriptor for each: where the limit is lower and may not
/// be raised, that many less some eighty.
@Suite(.endToEnd) struct `Thousands of streams` {
  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// One of twenty never reads while there is a burst of commits: the others lose nothing, the
  /// server's memory stays bounded, and who reads again ends with the right state.
  @Test(.slow) func `lose nothing though some never read`() throws {
    let count = Self.setting("STREAMS") ?? 200
    let slow = Self.setting("SLOW") ?? count / 20
    try raiseDescriptorLimit(to: count + 80)
    let folder = try TemporaryFolder()
    let database = try Database.make(
      folder.file("a.sqlite"),
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO item VALUES (1, 'a'), (2, 'b'), (3, 'c');
      """, journal: .wal)
    let file = try folder.write(
      """
      database: a.sqlite
      limits: {logBytes: 200000, rememberedBytes: 200000}
      timeouts: {write: 1h}
      """, to: "didchange.yaml")
    let command = try Command.serve(["--config", file])
    let crowd = try Crowd(
      port: UInt16(command.port) ?? 0, path: "/v1/queries/item/events", count: count, slow: slow)
    try wait("all snapshots") {
      crowd.read(0..<count, milliseconds: 100)
      return crowd.have("\"text\":\"c\"}}]}\n\n\r\n", 0..<count)
    }
    let before = try command.bytes("VmRSS")
    let start = ContinuousClock.now
    let writer = try ForeignWriter(database.path)
    var commits = 0
    // A server that is busy joins commits; what counts is that the log goes round more than once. The quick
    // ones are read often enough not to be slow.
    while crowd.bytes(slow) < 500_000 {
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
    let duration = ContinuousClock.now - start
    // The others have lost nothing: they were all shown the same, and that was right.
    let kinds = crowd.kinds(slow..<count)
    #expect(kinds.count == 1, "\(kinds)")
    let changeSets = try check(crowd.text(slow), commits)
    // A log, a few states, and for each stalled stream the rest of a unit; a sanitizer's own beside.
    let growth = try command.bytes("VmHWM") - before
    let limit = (10_000_000 + slow * 10_000) * (isSanitized ? 5 : 1)
    #expect(growth < limit, "\(growth) bytes more than \(before)")
    try wait("the slow ones") {
      crowd.read(0..<slow, milliseconds: 100)
      return crowd.have("the end", 0..<slow)
    }
    // A change shows when its change set is whole.
    var late = Array(0..<slow)
    try wait("whole change sets") {
      crowd.read(0..<slow, milliseconds: 100)
      late.removeAll { index in
        (try? model(crowd.text(index)).model.records[1].values["text"]) == "the end"
      }
      return late.isEmpty
    }
    for index in 0..<slow { _ = try check(crowd.text(index), commits) }
    let metrics = try HTTPClient(command.base).get("/metrics").text
    let skipped = metrics.firstMatch(of: /didchange_slow_readers_skipped_total (\d+)/)
    print(
      """
      \(count) streams, \(slow) of them slow, \(commits) commits: \(changeSets) change sets of \
      \(crowd.bytes(slow)) bytes to each of the others in \(duration); the server grew from \
      \(before) by \(growth) bytes at most; \(skipped?.1 ?? "0") were skipped forward
      """)
    #expect(skipped.flatMap { Int($0.1) } == slow)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  /// What a commit writes, as SQL; its end says which commit it is.
  private static func text(_ commit: Int) -> String { "printf('%02000d n%d.', 0, \(commit))" }

  /// Holds what a client was shown against what was written; returns the number of change sets.
  private func check(_ text: [UInt8], _ commits: Int) throws -> Int {
    let (model, changeSets) = try model(text)
    #expect(model.records.count == 3)
    #expect(model.records[0].values["text"].string?.hasSuffix("0 n\(commits).") == true)
    #expect(model.records[1].values["text"] == "the end")
    return changeSets
  }

  /// What a client shows that has read so far; versions that do not chain are an error.
  private func model(_ text: [UInt8]) throws -> (model: ClientModel, changeSets: Int) {
    var parser = EventParser()
    var events: [ServerSentEvent] = []
    try parser.parse(text) { events.append($0) }
    var model = ClientModel()
    var changeSets = 0
    for event in events {
      let carriesID = ["snapshot", "didChange"].contains(event.type)
      let received = ReceivedEvent(event: event, text: "", carriesID: carriesID)
      if try model.receive(received) != nil { changeSets += 1 }
    }
    return (model, changeSets)
  }

  private func wait(_ what: String, _ isSo: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while !isSo() {
      guard ContinuousClock.now < deadline else { throw TimedOut(what) }
    }
  }

  /// The process that is started inherits it.
  private func raiseDescriptorLimit(to count: Int) throws {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_max = max(limit.rlim_max, rlim_t(count))
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(resource, &limit) == 0 else {
      throw ContractViolation("no \(count) descriptors: raise the limit (ulimit -Hn)")
    }
  }
}
