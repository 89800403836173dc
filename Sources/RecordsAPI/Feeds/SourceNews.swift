import FetchedRecords
import OrderedResults

/// What happened to a controller since somebody last looked, as far as it still matters: however
/// much it was, it is no more than one state and how it came about.
struct SourceNews {
  /// The last good state, if there was one.
  private(set) var latest: ResultsSnapshot?
  /// What led to it, where nothing else did.
  private(set) var changes: ChangeSet?
  /// What the controller is left with.
  private(set) var failure: FetchFailure?

  mutating func append(_ event: LiveResultEvent) {
    switch event {
    case .changed(let changes, _, let new): arrive(at: new, changes)
    case .reset(let snapshot): arrive(at: snapshot, nil)
    case .failed(let failure): self.failure = failure
    case .recovered: failure = nil
    }
  }

  private mutating func arrive(at snapshot: ResultsSnapshot, _ changes: ChangeSet?) {
    self.changes = latest == nil ? changes : nil
    latest = snapshot
    failure = nil
  }
}
