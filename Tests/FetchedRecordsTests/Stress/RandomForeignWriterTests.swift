import Foundation
import TestSupport
import Testing

/// Random transactions of other processes under live queries, each of which is held against a fetch
/// of its own in the same transaction after every refresh.
///
/// `DIDCHANGE_STEPS` is the number of transactions in all, `DIDCHANGE_SEED` replays what is written
/// (not when: that is up to the processes).
@Suite(.serialized) struct `Random writers` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 1200

  @Test(arguments: [512, 1024, 4096, 65_536], [0, 1, 2])
  func `leave every query as a fetch finds it`(_ pageSize: Int, _ autoVacuum: Int) throws {
    let run = try ForeignWriterRun(
      pageSize: pageSize, autoVacuum: autoVacuum, journalMode: "wal",
      changesSchema: autoVacuum == 0)
    let writers = 1 + (pageSize / 512 + autoVacuum) % 3
    try run.watch(transactions: Self.steps / 24, writers: writers)
    run.report()
  }

  @Test(arguments: [512, 4096, 65_536])
  func `leave every query as a fetch finds it without a log`(_ pageSize: Int) throws {
    let run = try ForeignWriterRun(pageSize: pageSize, autoVacuum: 1, journalMode: "delete")
    try run.watch(transactions: Self.steps / 24, writers: 2)
    run.report()
  }

  @Test(arguments: [512, 4096])
  func `that hold the log for long leave every query as a fetch finds it`(_ pageSize: Int) throws {
    let run = try ForeignWriterRun(pageSize: pageSize, autoVacuum: 2, journalMode: "wal")
    try run.watch(transactions: Self.steps / 24, writers: 1, holdsLog: true)
    run.report()
  }

  @Test(arguments: [512, 4096])
  func `that are killed leave every query as a fetch finds it`(_ pageSize: Int) throws {
    let run = try ForeignWriterRun(
      pageSize: pageSize, autoVacuum: 1, journalMode: "wal", changesSchema: pageSize == 512)
    for _ in 0..<10 {
      try run.watch(transactions: Self.steps / 80, writers: 2, kills: true)
    }
    run.report()
  }
}
