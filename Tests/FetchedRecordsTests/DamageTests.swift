import Dispatch
import Foundation
import GRDB
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// What a file tells that is damaged in part, and what errors end transactions.
@Suite struct `A damaged database` {
  private static let queries = ["small", "large"].map {
    QueryDefinition(name: $0, form: .declared(.init(table: $0, order: ["id"])))
  }

  /// Without readers all is done on the queue, however busy the machine is.
  private func makeFixture(journalMode: String = "wal", readers: Int = 0) throws -> Fixture {
    var limits = RefresherLimits()
    limits.readers = readers
    let fixture = try Fixture(
      schema: """
        CREATE TABLE small (id INTEGER PRIMARY KEY, text);
        CREATE TABLE large (id INTEGER PRIMARY KEY, text);
        INSERT INTO small VALUES (1, 'one');
        INSERT INTO large WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50)
        SELECT i, hex(randomblob(1000)) FROM n;
        """, queries: .definitions(Self.queries), journalMode: journalMode, limits: limits)
    try fixture.writer.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint(TRUNCATE)")
    }
    return fixture
  }

  private func size(of path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  /// Takes no descriptor of the file, whose closing would drop the locks on it.
  private func cut(_ path: String, to size: Int) throws {
    try #require(truncate(path, off_t(size)) == 0)
  }

  /// SQLite ends a transaction by itself then: what is read after that would be of another commit.
  @Test func `fails in its own words where an error ends the transaction`() throws {
    let fixture = try makeFixture()
    let watched = try fixture.open("large")
    _ = try fixture.open("small")
    // All of the table, and nothing else, is in the log.
    try fixture.write("UPDATE large SET text = hex(randomblob(1000))")
    fixture.refresh()
    _ = watched.takeEvents()
    // Nothing of it is remembered.
    fixture.refresher.queue.sync { fixture.refresher.disconnect() }
    let log = fixture.path + "-wal"
    try cut(log, to: size(of: log) / 2)
    fixture.refresher.refresh(everything: true)
    let failure = try failure(of: fixture.refresher)
    #expect(failure.kind == .unavailable)
    #expect(failure.detail.hasPrefix("disk I/O error"), "\(failure.detail)")
    let told = watched.takeEvents().compactMap { event in
      if case .failed(let failure) = event { failure.detail } else { nil }
    }
    #expect(Set(told) == [failure.detail])
  }

  /// No commit tells that the disk can be read again.
  @Test func `is read again by itself where only a reader met the damage`() throws {
    let fixture = try makeFixture(readers: 1)
    let watched = try fixture.open("large")
    try fixture.write("UPDATE large SET text = hex(randomblob(1000))")
    fixture.refresh()
    _ = watched.takeEvents()
    fixture.refresher.queue.sync {
      fixture.refresher.disconnect()
      watched.controller.durations.fetch = .seconds(60)
    }
    let log = fixture.path + "-wal"
    try FileManager.default.copyItem(atPath: log, toPath: fixture.path + "-copy")
    try cut(log, to: size(of: log) / 2)
    fixture.refresher.refresh(everything: true)
    var events: [String] = []
    func waits(for count: Int) throws {
      let deadline = ContinuousClock.now + .seconds(60)
      while events.count < count {
        try #require(ContinuousClock.now < deadline)
        usleep(1000)
        events += watched.takeEvents().map(name)
      }
    }
    try waits(for: 1)
    try #require(fixture.refresher.failure == nil)
    // By another process, whose locks are others.
    let copy = try SpawnedProcess("cp", [fixture.path + "-copy", log])
    try #require(copy.exitCode(within: 20) == 0)
    try waits(for: 2)
    #expect(events == ["failed", "recovered"])
  }

  private func name(_ event: LiveResultEvent) -> String {
    switch event {
    case .failed: "failed"
    case .recovered: "recovered"
    default: "\(event)"
    }
  }

  private func failure(of refresher: Refresher) throws -> FetchFailure {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      if let failure = refresher.failure { return failure }
      try #require(ContinuousClock.now < deadline)
      usleep(1000)
    }
  }

  /// It is tried again and again, and less and less often.
  @Test func `fails once for each result`() throws {
    let fixture = try makeFixture(journalMode: "delete")
    let watched = try [fixture.open("small"), fixture.open("large")]
    try fixture.refresher.startWatching()
    // The root of a table, written over by another process, whose locks are others.
    let copy = try SpawnedProcess(
      "dd",
      [
        "if=/dev/urandom", "of=" + fixture.path, "bs=4096", "seek=2", "count=1", "conv=notrunc",
      ])
    try #require(copy.exitCode(within: 20) == 0)
    let deadline = ContinuousClock.now + .seconds(60)
    while fixture.refresher.queue.sync({ fixture.refresher.retries }) < 4 {
      try #require(ContinuousClock.now < deadline)
      usleep(1000)
    }
    for watched in watched {
      #expect(watched.takeEvents().map(name) == ["failed"])
    }
  }
}
