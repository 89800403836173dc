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

  mutating func append(_ event: ControllerEvent) {
    switch event {
    case .changed(let changes, _, let new): arrive(at: new, changes, failure: nil)
    case .reset(let snapshot): arrive(at: snapshot, nil, failure: nil)
    case .failed(let failure): self.failure = failure
    case .recovered: failure = nil
    }
  }

  func followed(by later: SourceNews) -> SourceNews {
    var result = self
    result.failure = later.failure
    if let latest = later.latest {
      result.arrive(at: latest, later.changes, failure: later.failure)
    }
    return result
  }

  private mutating func arrive(
    at snapshot: ResultsSnapshot, _ changes: ChangeSet?, failure: FetchFailure?
  ) {
    self.changes = latest == nil ? changes : nil
    latest = snapshot
    self.failure = failure
  }
}
