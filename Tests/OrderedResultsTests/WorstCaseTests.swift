import SeededRandom
import Testing

@testable import OrderedResults

/// Changes that make a diff slow if anything in it is quadratic: with so many rows such a test would
/// not end within its limit.
@Suite(.timeLimit(.minutes(1))) struct WorstCaseTests {
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

  @Test(arguments: Shape.allCases, [plain, repeating, keyless, ownSection])
  func `no shape of change is quadratic`(shape: Shape, layout: RecordLayout) throws {
    let rows = (0..<Self.count).map { [.integer($0), "a"] as [Value] }
    let old = try Results(layout, rows)
    let (new, changes) = try old.next(shape.apply(rows))
    #expect(try new.changes(from: old.applying(changes)).isEmpty)
    if layout == Self.plain, let most = shape.most { #expect(changes.count <= most) }
  }

  @Test func `records that all share one key are not quadratic`() throws {
    let rows = (0..<Self.count).map { [1, .integer($0)] as [Value] }
    let old = try Results(Self.repeating, rows)
    let (new, changes) = try old.next(Array(rows.dropFirst()))
    #expect(changes.count == Int(Self.count))
    #expect(try new.changes(from: old.applying(changes)).isEmpty)
  }

  @Test func `records without a key that are all equal are not quadratic`() throws {
    let rows = [[Value]](repeating: [1, 1], count: Int(Self.count))
    let old = try Results(Self.keyless, rows)
    let (_, changes) = try old.next(rows.dropLast(100) + [[2, 2]])
    #expect(changes.count == 101)
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
