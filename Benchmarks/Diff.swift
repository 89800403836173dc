import ArgumentParser
import Foundation
import OrderedResults
import SeededRandom

/// The diff of two results by itself, on the cases that DifferenceKit publishes.
struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The diff of two results, against CollectionDifference of Swift.",
    discussion: """
      CollectionDifference compares the keys alone and finds no updates; its moves come from \
      inferringMoves(). Where it takes O(n²) it is left out. DifferenceKit is measured where its \
      peer is found (a package of its own, Benchmarks/DifferenceKitPeer), in turns.
      """)

  @Option(help: "Records.") var count = 100_000
  @Option(help: "Runs; medians are shown.") var runs = 7
  @Option(help: "Only the cases whose name contains this; without CollectionDifference.")
  var only = ""

  @Option(help: "DifferenceKit's peer.")
  var differenceKit = "Benchmarks/DifferenceKitPeer/.build/release/differencekit-peer"

  private struct Case: Sendable {
    let name: String
    let change: @Sendable ([Int]) -> [Int]
    var hasPeer = true
  }

  private static let cases = [
    Case(name: "one moved") { moved($0, 1) },
    Case(name: "10 % deleted, 10 % inserted, 2 % moved") { mixed($0) },
    Case(name: "1000 moved") { moved($0, 1000) },
    Case(name: "all shuffled", change: { shuffled($0) }, hasPeer: false),
    Case(name: "reversed", change: { $0.reversed() }, hasPeer: false),
    Case(name: "neighbours swapped", change: { swapped($0) }, hasPeer: false),
  ]

  func run() throws {
    var table: [[String]] = []
    let old = Array(0..<count)
    for item in Self.cases where only.isEmpty || item.name.contains(only) {
      let new = item.change(old)
      let (from, to) = (try Self.results(old), try Self.results(new))
      var changes = ChangeSet()
      let ours = try Measure.median(runs: runs) { changes = to.changes(from: from) }
      guard item.hasPeer, only.isEmpty else {
        table.append([item.name, ours.short, "\(changes.count)", "", "", ""])
        continue
      }
      var difference = [Int]().difference(from: [])
      let peer = try Measure.median(runs: 3) {
        difference = new.difference(from: old).inferringMoves()
      }
      table.append([
        item.name, ours.short, "\(changes.count)", peer.short, "\(Self.count(difference))",
        (peer / ours).short,
      ])
    }
    print("\(count) records, medians of \(runs) runs, milliseconds\n")
    printTable(
      ["change", "didchange", "changes", "CollectionDifference", "changes", "ratio"], table)
    if FileManager.default.isExecutableFile(atPath: differenceKit) { try runBesideDifferenceKit() }
  }

  private func runBesideDifferenceKit() throws {
    var table: [[String]] = []
    let old = Array(0..<count)
    for item in Self.cases where only.isEmpty || item.name.contains(only) {
      let new = item.change(old)
      let (from, to) = (try Self.results(old), try Self.results(new))
      let peer = try DifferenceKitPeer(differenceKit, oldCount: count, newKeys: new)
      var changes = (ours: ChangeSet(), peer: "")
      var times: [(ours: Double, peer: Double)] = []
      for _ in 0..<runs {
        let ours = try Measure.median(runs: 1) { changes.ours = to.changes(from: from) }
        let other = try peer.diff()
        times.append((ours, other.milliseconds))
        changes.peer = other.changes
      }
      table.append([
        item.name, (times.map(\.ours).median ?? 0).short, "\(changes.ours.count)",
        (times.map(\.peer).median ?? 0).short, changes.peer,
        (times.map { $0.peer / $0.ours }.median ?? 0).short,
      ])
    }
    print("\nIn turns with DifferenceKit\n")
    printTable(["change", "didchange", "changes", "DifferenceKit", "changes", "ratio"], table)
  }

  /// A move is one change, as it is one event.
  private static func count(_ difference: CollectionDifference<Int>) -> Int {
    let moves = difference.insertions.count { change in
      if case .insert(_, _, let partner) = change { partner != nil } else { false }
    }
    return difference.count - moves
  }

  private static func results(_ keys: [Int]) throws -> Results {
    let layout = RecordLayout(
      columns: ["id", "name"], columnCount: 2, key: [0], keyIsUnique: true, keyNames: ["id"])
    var builder = ResultsBuilder(comparingWith: .empty(layout))
    var encoder = RecordEncoder()
    for key in keys {
      encoder.begin()
      encoder.append(Value.integer(Int64(key)))
      encoder.append(Value.text("Player \(key)"))
      builder.append(encoder)
    }
    return try builder.finish().0
  }

  private static func moved(_ old: [Int], _ count: Int) -> [Int] {
    var (new, random) = (old, SeededGenerator(seed: 1))
    for _ in 0..<count {
      let record = new.remove(at: .random(in: new.indices, using: &random))
      new.insert(record, at: .random(in: 0...new.count, using: &random))
    }
    return new
  }

  private static func mixed(_ old: [Int]) -> [Int] {
    var random = SeededGenerator(seed: 1)
    let tenth = old.count / 10
    let gone = Set((0..<tenth).map { _ in Int.random(in: old.indices, using: &random) })
    var new = moved(old.filter { !gone.contains($0) }, old.count / 50)
    for number in 0..<tenth {
      new.insert(old.count + number, at: .random(in: 0...new.count, using: &random))
    }
    return new
  }

  private static func swapped(_ old: [Int]) -> [Int] {
    old.indices.map { old[min($0 ^ 1, old.count - 1)] }
  }

  private static func shuffled(_ old: [Int]) -> [Int] {
    var random = SeededGenerator(seed: 1)
    return old.shuffled(using: &random)
  }
}
