/// All that turned one state of a query's records into the next.
///
/// Applied in this order, the changes turn ``old`` into ``new`` (`protocol.md` §3): take out the
/// records of deletions and moves, from the highest old index path; take out the sections of deletions;
/// put in the sections of insertions; put in the records of insertions and moves, at their new index
/// paths, from the lowest; replace the records of updates. Each record is named at most once.
public struct RemoteRecordsChangeSet<Record: Sendable>: Sendable {
  /// Deletions from the highest section, then insertions from the lowest.
  public let sectionChanges: [RemoteSectionChange]
  /// Deletions and moves from the highest old index path, then insertions and then updates from the
  /// lowest new one.
  public let recordChanges: [RemoteRecordChange]
  /// The records before.
  public let old: RemoteRecords<Record>
  /// The records after.
  public let new: RemoteRecords<Record>
  /// Whether everything is to be read anew: the first records, or those of a server that does not
  /// know what came before. Nothing is told of single records then.
  public let isReset: Bool

  /// The record that a change is about: the old one for a deletion, else the new one. O(1).
  public func record(of change: RemoteRecordChange) -> Record {
    switch change {
    case .deletion(let path): old[path]
    case .insertion(let path), .move(_, let path, _), .update(_, let path, _): new[path]
    }
  }
}

extension RemoteRecordsChangeSet {
  /// Nothing but that all is to be read anew.
  init(resetFrom old: RemoteRecords<Record>, to new: RemoteRecords<Record>) {
    (sectionChanges, recordChanges) = ([], [])
    (self.old, self.new, isReset) = (old, new, true)
  }
}
