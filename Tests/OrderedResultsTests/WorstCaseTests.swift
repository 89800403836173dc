import Foundation
import SeededRandom
import TestSupport
import Testing

@testable import OrderedResults

/// Changes that make a diff slow if anything in it is quadratic: four times the rows would then take
/// sixteen times as long.
@Suite struct WorstCaseTests {
  static let count: Int64 = 10_000
  static let plain = RecordLayout(columns: ["id", "name"], key: [0], keyIsUnique: true)
  static let repeating = RecordLayout(columns: ["id", "name"], key: [0])
  static let keyless = RecordLayout(columns: ["id", "name"])
  static let ownSection = RecordLayout(
    columns: ["id", "name"], key: [0], keyIsUnique: true, section: 0)

  enum Shape: CaseIterable {
    case reversed, rotated, interleaved, shuffled, replaced, changed, secondReplaced
    case blockDeleted, blockMoved, neighboursSwapped

    func apply(_ rows: [[Value]]) -> [[Value]] {
      let half = rows.count / 2
      switch self {
      case .reversed: return rows.reversed()
      case .rotated: return Array(rows[half...] + rows[..<half])
      case .interleaved: return zip(rows[..<half], rows[half...]).flatMap { [$0, $1] }
      case .shuffled:
        var random = SeededGenerator(seed: 1)
        return rows.shuffled(using: &random)
      case .replaced: return rows.map { [.integer(-$0.id - 1), $0[1]] }
      case .changed: return rows.map { [$0[0], "z"] }
      case .secondReplaced:
        return rows.enumerated().map { $0 % 2 == 0 ? $1 : [.integer(-$1.id - 1), $1[1]] }
      case .blockDeleted: return Array(rows[..<(half / 2)] + rows[half...])
      case .blockMoved:
        return Array(rows[half..<half * 3 / 2] + rows[..<half] + rows[(half * 3 / 2)...])
      case .neighboursSwapped:
        return rows.indices.map { rows[min($0 ^ 1, rows.count - 1)] }
      }
    }
  }

  @Test(.slow, arguments: Shape.allCases, [plain, repeating, keyless, ownSection])
  func `no shape of change is quadratic`(shape: Shape, layout: RecordLayout) throws {
    func states(_ count: Int64) throws -> (old: Results, rows: [[Value]]) {
      let rows = (0..<count).map { [.integer($0), "a"] as [Value] }
      return (try Results(layout, rows), shape.apply(rows))
    }
    let (old, rows) = try states(Self.count)
    let (new, changes) = try old.next(rows)
    #expect(try PlainResults(old).applying(changes) == PlainResults(new))
    if layout == Self.plain, let most = shape.most { #expect(changes.count <= most) }
    try expectAboutLinear(states)
  }

  @Test func `records that all share one key are not quadratic`() throws {
    func states(_ count: Int64) throws -> (old: Results, rows: [[Value]]) {
      let rows = (0..<count).map { [1, .integer($0)] as [Value] }
      return (try Results(Self.repeating, rows), Array(rows.dropFirst()))
    }
    let (old, rows) = try states(Self.count)
    let (new, changes) = try old.next(rows)
    #expect(changes.count == Int(Self.count))
    #expect(try PlainResults(old).applying(changes) == PlainResults(new))
    try expectAboutLinear(states)
  }

  @Test func `records without a key that are all equal are not quadratic`() throws {
    func states(_ count: Int64) throws -> (old: Results, rows: [[Value]]) {
      let rows = [[Value]](repeating: [1, 1], count: Int(count))
      return (try Results(Self.keyless, rows), rows.dropLast(100) + [[2, 2]])
    }
    let (old, rows) = try states(Self.count)
    #expect(try old.next(rows).changes.count == 101)
    try expectAboutLinear(states)
  }

  /// Seconds that this thread has had a processor.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Holds the processor time of the step from one state to the next against that with a quarter of
  /// the rows.
  ///
  /// Other threads cost this one its caches, which may make a figure twice as large, so one good pair
  /// is enough: what is quadratic has none.
  private func expectAboutLinear(
    _ states: (Int64) throws -> (old: Results, rows: [[Value]]),
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (few, many) = (try states(Self.count / 4), try states(Self.count))
    var ratios: [Double] = []
    repeat {
      let times = try [few, many].map { state in
        let start = Self.processorTime
        _ = try state.old.next(state.rows)
        return Self.processorTime - start
      }
      ratios.append(times[1] / max(times[0], 1e-9))
    } while ratios.count < 10 && ratios.last.map { $0 >= 8 } ?? false
    #expect(
      ratios.contains { $0 < 8 }, "four times the rows, times as long: \(ratios)",
      sourceLocation: sourceLocation)
  }
}

extension WorstCaseTests.Shape {
  /// The most changes that this shape needs.
  var most: Int? {
    let count = Int(WorstCaseTests.count)
    return switch self {
    case .reversed: count - 1
    case .rotated, .interleaved, .neighboursSwapped: count / 2
    case .shuffled, .changed, .secondReplaced: count
    case .replaced: 2 * count
    case .blockDeleted, .blockMoved: count / 4
    }
  }
}

extension [Value] {
  fileprivate var id: Int64 {
    guard case .integer(let id) = self[0] else { return 0 }
    return id
  }
}
