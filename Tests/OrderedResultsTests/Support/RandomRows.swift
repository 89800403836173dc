import SeededRandom

@testable import OrderedResults

extension SeededGenerator {
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// What keys a table has: integers side by side or far apart, at the ends of what there is, or
/// several types in one column.
private struct Keys {
  private let first: Int64
  private let distance: Int64
  private let mixesTypes: Bool

  init(_ random: inout SeededGenerator) {
    first = [0, 0, -50, 1 << 31 - 20, .min, .max - 100][Int.random(in: 0..<6, using: &random)]
    // Odd, so that no two numbers get the same key.
    distance = [1, 1, 1, 7, 1001, 0x1E37_79B9_7F4A_7C15][Int.random(in: 0..<6, using: &random)]
    mixesTypes = random.chance(15)
  }

  func value(_ number: Int64) -> Value {
    let integer = first &+ number &* distance
    guard mixesTypes else { return .integer(integer) }
    switch number % 5 {
    case 0: return .text("\(number)")
    case 1: return .real(Double(number) + 0.5)
    case 2:
      return Int64(exactly: Double(integer)) == integer ? .real(Double(integer)) : .integer(integer)
    default: return .integer(integer)
    }
  }
}

/// Rows of a table that changes at random, grouped by section.
struct RandomRows {
  /// The columns are id, name, team, title, rank; which of them are hidden is the layout's affair.
  let layout: RecordLayout
  private(set) var rows: [[Value]] = []
  private var random: SeededGenerator
  private let allowsRepeatedKeys: Bool
  private let maximumCount: Int
  private let keys: Keys
  private var nextID: Int64 = 1

  static let names: [Value] = ["a", "A", "", nil, "b", 1, 1.5, .blob([0, 255])]
  static let teams: [Value] = ["Red", "red", "", nil, 1, 2.0, "Blue", "Green", .blob([])]

  init(_ random: SeededGenerator) {
    var random = random
    let kind = Int.random(in: 0..<8, using: &random)
    let visible = Array(["id", "name", "team"].prefix(Int.random(in: 1...3, using: &random)))
    let key: [Int]? = [[0], [0], [0], [0], [0], [0, 1], [1, 0], nil][kind]
    let hasSections = random.chance(70)
    allowsRepeatedKeys = key == nil || random.chance(30)
    layout = RecordLayout(
      columns: visible, columnCount: 5, key: key,
      keyIsUnique: key == [0] && !allowsRepeatedKeys && random.chance(50),
      keyNames: key?.map { ["id", "name"][$0] } ?? [],
      section: hasSections ? 2 : nil,
      sectionIndexTitle: hasSections && random.chance(30) ? 3 : nil)
    maximumCount = random.chance(80) ? 12 : random.chance(80) ? 100 : 500
    keys = Keys(&random)
    self.random = random
    for _ in 0..<Int.random(in: 0...maximumCount, using: &self.random) { insert() }
    group()
  }

  /// Some changes, as a transaction would make them.
  mutating func step() {
    switch Int.random(in: 0..<40, using: &random) {
    case 0: rows.shuffle(using: &random)
    case 1: rows.reverse()
    case 2: rows = []
    case 3:
      let count = rows.count
      rows = []
      for _ in 0..<count { insert() }
    case 4: replaceSection()
    case 5:
      let start = Int.random(in: 0...rows.count, using: &random)
      rows.removeSubrange(start..<Int.random(in: start...rows.count, using: &random))
    case 6: for index in rows.indices { change(index) }
    case 7: moveBlock()
    default: for _ in 0..<Int.random(in: 0...4, using: &random) { changeOne() }
    }
    group()
  }

  private mutating func changeOne() {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: insert()
    case 2 where !rows.isEmpty: rows.remove(at: place())
    case 3 where !rows.isEmpty: rows[place()][4] = .integer(.random(in: 0..<3, using: &random))
    case 4 where !rows.isEmpty:
      let row = rows.remove(at: place())
      rows.insert(row, at: Int.random(in: 0...rows.count, using: &random))
    default: if !rows.isEmpty { change(place()) }
    }
  }

  private mutating func place() -> Int { Int.random(in: rows.indices, using: &random) }

  private mutating func change(_ index: Int) {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: rows[index][2] = team()
    case 1: rows[index][3] = title()
    default: rows[index][1] = Self.names.randomElement(using: &random) ?? nil
    }
  }

  private mutating func insert() {
    guard rows.count < maximumCount else { return }
    var id = keys.value(nextID)
    nextID += 1
    if allowsRepeatedKeys, random.chance(30) {
      id = keys.value(.random(in: 1...4, using: &random))
      if random.chance(20) { id = .real(Double(Int.random(in: 1...4, using: &random))) }
    }
    let row = [
      id, Self.names.randomElement(using: &random) ?? nil, team(), title(),
      .integer(.random(in: 0..<3, using: &random)),
    ]
    rows.insert(row, at: Int.random(in: 0...rows.count, using: &random))
  }

  private mutating func team() -> Value { Self.teams.randomElement(using: &random) ?? nil }

  private mutating func title() -> Value { random.chance(70) ? "T" : "U" }

  private mutating func moveBlock() {
    let start = Int.random(in: 0...rows.count, using: &random)
    let end = Int.random(in: start...rows.count, using: &random)
    let block = Array(rows[start..<end])
    rows.removeSubrange(start..<end)
    rows.insert(contentsOf: block, at: Int.random(in: 0...rows.count, using: &random))
  }

  private mutating func replaceSection() {
    guard let from = rows.randomElement(using: &random)?[2] else { return }
    let to = team()
    for index in rows.indices where rows[index][2] == from { rows[index][2] = to }
  }

  /// Brings the sections together, in the order of their first rows.
  private mutating func group() {
    guard layout.section != nil else { return }
    var order: [Value] = []
    var groups: [Value: [[Value]]] = [:]
    for row in rows {
      let name = row[2].canonical
      if groups[name] == nil { order.append(name) }
      groups[name, default: []].append(row)
    }
    rows = order.flatMap { groups[$0] ?? [] }
  }
}
