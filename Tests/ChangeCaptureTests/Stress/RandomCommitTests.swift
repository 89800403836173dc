import TestSupport
import Testing

@testable import ChangeCapture

/// Random transactions of all kinds, and whether any row that changed was missed.
///
/// `DIDCHANGE_STEPS` is the number of looks for each layout of the file, `DIDCHANGE_SEED` replays a
/// run.
@Suite struct `Random commits` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS").map { $0 / 20 } ?? 60

  static let layouts = [512, 1024, 4096, 8192, 65_536].flatMap { size in
    [0, 1, 2].map { StressRun.Layout(pageSize: size, autoVacuum: $0, journalMode: "wal") }
  }

  @Test(arguments: layouts)
  func `no changed row is missed`(_ layout: StressRun.Layout) throws {
    try run(layout)
  }

  @Test(arguments: [512, 4096, 65_536], [0, 1, 2])
  func `no changed row is missed without a log`(_ pageSize: Int, _ autoVacuum: Int) throws {
    try run(.init(pageSize: pageSize, autoVacuum: autoVacuum, journalMode: "delete"))
  }

  @Test(arguments: [(512, 32), (1024, 8), (4096, 255)])
  func `no changed row is missed where pages have reserved bytes`(
    _ pageSize: Int, _ reserved: Int
  ) throws {
    try run(.init(pageSize: pageSize, autoVacuum: 1, journalMode: "wal", reserved: reserved))
  }

  private func run(_ layout: StressRun.Layout) throws {
    let seed = RandomSource.seed(layout)
    let run = try StressRun(layout, seed: seed)
    for step in 0..<Self.steps {
      do {
        try run.step()
      } catch {
        Issue.record("\(run.trace(step: step, seed: seed, error))")
        return
      }
    }
    let fallbacks = run.reader.statistics.fallbacks.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    print(
      """
      \(layout), seed \(seed): \(run.commits) transactions, \
      \(run.examiner.summary); \(run.outlines.summary); \
      \(run.incompleteLooks) before all was read; \
      \(run.reader.statistics.logRestarts) logs begun anew; \(fallbacks)
      """)
    #expect(run.examiner.rowsReported <= run.examiner.rowsChanged * 102 / 100 + 50)
  }
}
