import DequeModule
import OrderedResults

/// Which groups rows came to or went from at the latest commits.
struct GroupChanges {
  private var commits: Deque<(number: Int, groups: Set<[Value]>)> = []
  private var count = 0
  /// Of what changed with this commit and before, nothing is known.
  private var start: Int

  private static let most = 4096
  private static let mostCommits = 64

  /// Those since a commit.
  init(since commit: Int) { start = commit }

  /// Notes what changed with a commit, or since the one before. O(k), k changes.
  mutating func note(_ changes: ChangeSet, termCount: Int, commit number: Int) {
    if changes.isEmpty { return }
    var groups: Set<[Value]> = []
    changes.forEachComingOrGoing { record, _ in groups.insert(record.values(ofFirst: termCount)) }
    commits.append((number, groups))
    count += groups.count
    while count > Self.most || commits.count > Self.mostCommits, let first = commits.popFirst() {
      count -= first.groups.count
      start = first.number
    }
  }

  /// The groups that changed after a commit; nil: that is not known.
  ///
  /// O(k), k groups that changed since.
  func groups(since commit: Int) -> Set<[Value]>? {
    if commit < start { return nil }
    let since = commits.reversed().prefix { $0.number > commit }
    return since.reduce(into: []) { $0.formUnion($1.groups) }
  }
}
