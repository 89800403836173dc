public import Foundation

/// What happened to one record between two results (`protocol.md` §3).
///
/// Index paths called `indexPath` are counted in the old results; `newIndexPath` and the index path of
/// an insertion are counted in the new ones.
public enum RemoteRecordChange: Sendable, Equatable {
  /// A record came.
  case insertion(indexPath: IndexPath)
  /// A record went.
  case deletion(indexPath: IndexPath)
  /// A record left its place among the others, or its section; `changes` has the old values of the
  /// columns that changed, and may be empty.
  case move(indexPath: IndexPath, newIndexPath: IndexPath, changes: [String: RemoteValue])
  /// A record changed and keeps its place among those that stay; its two index paths differ where
  /// others before it came or went. `changes` has the old values of the columns that changed.
  case update(indexPath: IndexPath, newIndexPath: IndexPath, changes: [String: RemoteValue])

  /// Where the record was; nil for an insertion.
  public var oldIndexPath: IndexPath? {
    switch self {
    case .insertion: nil
    case .deletion(let path), .move(let path, _, _), .update(let path, _, _): path
    }
  }

  /// Where the record is; nil for a deletion.
  public var newIndexPath: IndexPath? {
    switch self {
    case .deletion: nil
    case .insertion(let path), .move(_, let path, _), .update(_, let path, _): path
    }
  }
}

/// A section that came (counted in the new results) or went (counted in the old ones).
public enum RemoteSectionChange: Sendable, Equatable {
  case insertion(index: Int, name: RemoteValue, indexTitle: String)
  case deletion(index: Int, name: RemoteValue)
}
