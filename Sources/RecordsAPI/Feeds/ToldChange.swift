import FetchedRecords
import OrderedResults

/// What is told of a change set: its events, or a snapshot where that is shorter.
struct ToldChange: Sendable {
  enum Form: Sendable {
    case changes([UInt8], count: Int)
    case snapshot([UInt8])
    /// A snapshot that is too long to be written for all streams.
    case leap
  }

  let form: Form
  /// What is shown then.
  let shown: PresentState.Member
  private let old: ResultsVersion

  /// O(b), b the bytes that are told, or the size of the snapshot.
  init(
    _ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot,
    as member: MemberName
  ) {
    self.old = old.version
    shown = PresentState.Member(member, new)
    var events = ChangeEvents(member: member)
    if events.append(changes, from: old, to: new, unlessLongerThan: shown.size) {
      form = .changes(events.bytes, count: events.count)
    } else {
      let id = new.version.description
      form = shown.event(id: id).whole(atMost: EventLog.largestSnapshot).map(Form.snapshot) ?? .leap
    }
  }

  /// Whether it leads from one state to another, both as they are told.
  func leads(from old: ResultsSnapshot, to new: ResultsSnapshot) -> Bool {
    self.old == old.version && shown.snapshot.version == new.version
      && shown.snapshot.commit == new.commit
  }
}
