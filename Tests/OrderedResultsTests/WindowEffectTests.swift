import SeededRandom
import Testing

@testable import OrderedResults

/// What is told of a window from the changes of the whole is what a comparison of the windows finds.
@Suite struct `A window` {
  private static let layout = RecordLayout(
    columns: ["id", "name"], columnCount: 2, key: [0], keyIsUnique: true, keyNames: ["id"])

  private func results(_ ids: [Int64]) throws -> Results {
    try Results(Self.layout, ids.map { [.integer($0), .text(Array("n\($0)".utf8))] })
  }

  @Test func `is not touched by what changes behind it, nor by updates before it`() throws {
    let old = try results(Array(1...100))
    var rows = old.rows
    rows[3][1] = "other"
    rows.removeSubrange(60..<70)
    let (new, changes) = try old.next(rows)
    #expect(changes.effect(on: 10..<60)?.isEmpty == true)
    #expect(changes.effect(on: 3..<4)?.isEmpty == false)
    #expect(changes.effect(on: 10..<61)?.deletions == [50])
    #expect(changes.effect(on: 200..<300)?.isEmpty == true)
    #expect(changes.effect(on: 0..<Int.max)?.deletions == Array(60..<70))
    #expect(new.count == 90)
  }

  @Test func `loses at one edge what comes at the other`() throws {
    let old = try results(Array(1...100))
    let (new, changes) = try old.next([[.integer(0), "first"]] + old.rows)
    let effect = try #require(changes.effect(on: 10..<20))
    #expect(effect.deletions == [9])
    #expect(effect.insertions == [0])
    let told = effect.changes(from: old.window(10..<20), to: new.window(10..<20))
    #expect(told == new.window(10..<20).changes(from: old.window(10..<20)))
  }

  @Test func `is compared where a record moved inside it`() throws {
    let old = try results(Array(1...10))
    var rows = old.rows
    rows.swapAt(4, 6)
    let (_, changes) = try old.next(rows)
    #expect(changes.effect(on: 0..<10) == nil)
    #expect(changes.effect(on: 8..<10)?.isEmpty == true)
  }

  @Test func `is far from what a change set reaches, or not`() throws {
    let old = try results(Array(1...100))
    var rows = old.rows
    rows[3][1] = "other"
    #expect(try old.next(rows).changes.reach == ChangeReach(shifted: 0..<0, updated: [3]))
    rows.swapAt(10, 20)
    #expect(try old.next(rows).changes.reach == ChangeReach(shifted: 10..<21, updated: [3]))
    rows.remove(at: 50)
    #expect(try old.next(rows).changes.reach?.shifted == 10..<Int.max)
  }

  @Test func `is told as the comparison tells it, at random`() throws {
    print("RESULTS_SEED=\(RandomTests.seed)")
    var told = 0
    for table in 0..<UInt64(RandomTests.steps / 20) {
      let seed = RandomTests.seed &+ table &* 0x1_0000_0001
      var random = SeededGenerator(seed: seed)
      var rows = RandomRows(random)
      var results = try Results(rows.layout, rows.rows)
      for step in 0..<20 {
        rows.step()
        let (next, changes) = try results.next(rows.rows)
        for _ in 0..<8 {
          let start = Int.random(in: 0...rows.rows.count + 3, using: &random)
          let length = Int.random(in: 1...20, using: &random)
          let window = start..<start + length
          guard let effect = changes.effect(on: window) else { continue }
          let (old, new) = (results.window(window), next.window(window))
          let comment: Comment = "RESULTS_SEED=\(seed), step \(step), window \(window)"
          let expected = new.changes(from: old)
          #expect(effect.isEmpty == expected.recordChanges.isEmpty, comment)
          let reach = try #require(changes.reach)
          let isReached =
            window.overlaps(reach.shifted) || reach.updated.contains(where: window.contains)
          #expect(isReached || effect.isEmpty, comment)
          guard let known = effect.changes(from: old, to: new) else { continue }
          #expect(known == expected, comment)
          try check(known, from: old, to: new, comment: comment)
          told += 1
        }
        results = next
      }
    }
    #expect(told > RandomTests.steps)
  }
}
