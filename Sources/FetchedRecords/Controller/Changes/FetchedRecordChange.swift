public import Foundation
public import GRDB
import OrderedResults

/// What happened to one record between two results.
///
/// Index paths called `indexPath` are counted in the old results where a record went or moved from;
/// `newIndexPath` and the index path of an insertion are counted in the new ones.
public enum FetchedRecordChange: Sendable, Equatable {
  /// A record came.
  case insertion(indexPath: Foundation.IndexPath)
  /// A record went.
  case deletion(indexPath: Foundation.IndexPath)
  /// A record stands at another index path, or in another section; `changes` has the old values of
  /// the columns that changed, and may be empty.
  ///
  /// The two index paths are equal only where the section at that index is another one than before.
  case move(
    indexPath: Foundation.IndexPath, newIndexPath: Foundation.IndexPath,
    changes: [String: DatabaseValue])
  /// A record changed and stands at the same index path before and after, so that what shows it can
  /// be configured in place; `changes` has the old values of the columns that changed.
  case update(indexPath: Foundation.IndexPath, changes: [String: DatabaseValue])
}

extension FetchedRecordChange {
  init(_ place: PlaceChange, changes: (Place, Place) -> [String: DatabaseValue]) {
    self =
      switch place {
      case .insertion(let place): .insertion(indexPath: Foundation.IndexPath(place))
      case .deletion(let place): .deletion(indexPath: Foundation.IndexPath(place))
      case .move(let from, let to):
        .move(
          indexPath: Foundation.IndexPath(from), newIndexPath: Foundation.IndexPath(to),
          changes: changes(from, to))
      case .update(let place):
        .update(indexPath: Foundation.IndexPath(place), changes: changes(place, place))
      }
  }
}

extension FetchedRecordChange: CustomStringConvertible {
  /// The change in words, for logs.
  public var description: String {
    switch self {
    case .insertion(let path): "insertion at \(path)"
    case .deletion(let path): "deletion at \(path)"
    case .move(let old, let new, let changes): "move from \(old) to \(new), old values \(changes)"
    case .update(let path, let changes): "update at \(path), old values \(changes)"
    }
  }
}

/// A section that came (counted in the new results) or went (counted in the old ones).
public enum FetchedSectionChange: Sendable, Equatable {
  case insertion(index: Int, name: String?)
  case deletion(index: Int, name: String?)
}

extension FetchedSectionChange {
  init(_ change: SectionChange) {
    self =
      switch change {
      case .insertion(let index, let name, _): .insertion(index: index, name: name.sectionName)
      case .deletion(let index, let name, _): .deletion(index: index, name: name.sectionName)
      }
  }
}
