import FetchedRecords
import OrderedResults

// Which states lead a caller on: a version is no pass.
extension RememberedState {
  /// Whether all of it is of a commit, or of later ones.
  func isNotBefore(_ commit: Int) -> Bool {
    snapshots.allSatisfy { $0.commit >= commit }
  }

  var numberOfRecords: Int { snapshots.reduce(0) { $0 + $1.results.count } }

  /// Whether it is of a query with these values of some parameters.
  func isOf(_ key: FeedKey, in parameters: some Sequence<String>) -> Bool {
    keys.allSatisfy { own in
      own.query == key.query && parameters.allSatisfy { own.arguments[$0] == key.arguments[$0] }
    }
  }
}
