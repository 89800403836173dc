import DifferenceKit
import Foundation

/// A record as `Benchmarks diff` has them.
struct Player: Differentiable {
  let id: Int64
  let name: String

  init(_ id: Int64) { (self.id, name) = (id, "Player \(id)") }

  var differenceIdentifier: Int64 { id }
  func isContentEqual(to source: Player) -> Bool { name == source.name }
}

/// Reads the number of old records, whose keys count from 0, and the new keys: a line of numbers.
/// Then answers each further line with the milliseconds of a diff and the number of its changes.
@main enum Main {
  static func main() {
    let numbers = (readLine() ?? "").split(separator: " ").compactMap { Int64($0) }
    guard let count = numbers.first else { return }
    let old = (0..<count).map(Player.init)
    let new = numbers.dropFirst().map(Player.init)
    while readLine() != nil {
      var changes = 0
      let time = ContinuousClock().measure {
        changes = StagedChangeset(source: old, target: new).reduce(0) { $0 + $1.changeCount }
      }
      print(time / .milliseconds(1), changes)
      fflush(nil)
    }
  }
}
