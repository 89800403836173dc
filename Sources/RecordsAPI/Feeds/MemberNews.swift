import FetchedRecords
import OrderedResults

/// What happened to a controller since somebody last looked, as far as it still matters: however
/// much it was, it is no more than one state and how it came about.
struct MemberNews {
  /// The last good state, if there was one.
  private(set) var latest: ResultsSnapshot?
  /// What led to it from another state, where nothing else did.
  private(set) var changes: (set: ChangeSet, from: ResultsVersion)?
  /// What the controller is left with.
  private(set) var failure: FetchFailure?

  mutating func append(_ event: LiveResultEvent) {
    switch event {
    case .changed(let changes, let old, let new): arrive(at: new, (changes, old.version))
    case .reset(let snapshot), .counted(let snapshot): arrive(at: snapshot, nil)
    case .failed(let failure): self.failure = failure
    case .recovered: failure = nil
    case .delayed, .fetching, .landed: break
    }
  }

  /// Takes what happened after this.
  mutating func append(_ later: MemberNews) {
    if let latest = later.latest { arrive(at: latest, later.changes) }
    failure = later.failure
  }

  func followed(by later: MemberNews) -> MemberNews {
    var joined = self
    joined.append(later)
    return joined
  }

  private mutating func arrive(
    at snapshot: ResultsSnapshot, _ changes: (set: ChangeSet, from: ResultsVersion)?
  ) {
    self.changes = latest == nil ? changes : nil
    latest = snapshot
    failure = nil
  }
}
