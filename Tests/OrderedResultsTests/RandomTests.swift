import Foundation
import SeededRandom
import TestSupport
import Testing

@testable import OrderedResults

/// Random tables and random changes, checked against the plainest means.
///
/// Another run: `RESULTS_SEED=<seed> RESULTS_STEPS=<steps> swift test --filter RandomTests`.
@Suite struct RandomTests {
  static let environment = ProcessInfo.processInfo.environment
  static let seed = environment["RESULTS_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
  static let steps = environment["RESULTS_STEPS"].flatMap { Int($0) } ?? 2000

  @Test func `random changes give change sets that are right and as small as can be`() throws {
    print("RESULTS_SEED=\(Self.seed)")
    var step = 0
    var table: UInt64 = 0
    while step < Self.steps {
      var rows = RandomRows(SeededGenerator(seed: Self.seed &+ table &* 0x1_0000_0001))
      var results = try Results(rows.layout, rows.rows)
      try results.checkInvariants()
      for _ in 0..<20 {
        rows.step()
        let comment: Comment = "RESULTS_SEED=\(Self.seed), table \(table), step \(step)"
        let (next, changes) = try results.next(rows.rows)
        try checkStep(from: results, to: next, changes, rows.rows, comment)
        guard next.rows == rows.rows else { return }
        results = next
        step += 1
      }
      table += 1
    }
  }

  private func checkStep(
    from old: Results, to new: Results, _ changes: ChangeSet, _ rows: [[Value]], _ comment: Comment
  ) throws {
    #expect(new.rows == rows, comment)
    try check(changes, from: old, to: new, comment: comment)
    checkMinimal(changes, from: old, to: new, comment: comment)

    // Two finished results, that share blocks and that do not.
    try check(new.changes(from: old), from: old, to: new, comment: comment)
    let fresh = try Results(new.layout, rows)
    #expect(fresh.sections == new.sections, comment)
    #expect(fresh.digestText == new.digestText, comment)
    let part = rows.count / 3..<rows.count - rows.count / 4
    let window = try Results(new.layout, Array(rows[part]))
    #expect(new.window(part).digestText == window.digestText, comment)
    let again = fresh.changes(from: old)
    try check(again, from: old, to: fresh, comment: comment)
    checkMinimal(again, from: old, to: fresh, comment: comment)
    #expect(fresh.changes(from: new).isEmpty, comment)
    if PlainResults(old) == PlainResults(new), old.layout.key == nil {
      #expect(changes.isEmpty, comment)
    }
  }
}
