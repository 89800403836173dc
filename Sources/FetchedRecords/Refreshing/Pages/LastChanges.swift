import ChangeCapture
import QueryAnalysis

/// When each table was last seen to change: what was read of a query since then is still true.
struct LastChanges {
  /// By names in small letters.
  private var commits: [String: Int] = [:]
  /// The last commit that may have changed every table.
  private var everything = 0

  /// O(t), t changed tables.
  mutating func note(_ changes: DatabaseChanges, at commit: Int) {
    switch changes.extent {
    case .nothing: break
    case .everything: noteEverything(at: commit)
    case .tables(let tables):
      for table in tables.keys { commits[table.lowercased()] = commit }
    }
  }

  /// Also after a change of the schema: what is read of the same tables may be something else.
  mutating func noteEverything(at commit: Int) {
    commits = [:]
    everything = commit
  }

  /// The last commit that may have changed a query's result. O(t), t tables of it.
  func commit(of query: Query) -> Int {
    query.dependencies.flatMap { [$0.table] + $0.storage }.reduce(everything) {
      max($0, commits[$1.lowercased()] ?? 0)
    }
  }
}
