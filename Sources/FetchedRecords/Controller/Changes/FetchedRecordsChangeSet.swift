import Foundation
public import GRDB
import OrderedResults

/// All that turned one state of a controller's records into the next: an immutable value that may
/// be handed to any thread.
///
/// Applied in this order, the changes turn ``old`` into ``new``: take out the records of deletions
/// and moves; take out the sections of deletions; put in the sections of insertions; put in the
/// records of insertions and moves, at their new index paths, from the lowest; configure the records
/// of updates. Each record is named at most once. Records that are not named keep their order.
public struct FetchedRecordsChangeSet<Record: FetchableRecord & SendableMetatype>: Sendable {
  /// Deletions from the highest section, then insertions from the lowest.
  public let sectionChanges: [FetchedSectionChange]
  /// Deletions and moves from the highest old index path, then insertions and then updates from the
  /// lowest new one.
  public let recordChanges: [FetchedRecordChange]
  /// The records before.
  public let old: FetchedResults<Record>
  /// The records after.
  public let new: FetchedResults<Record>
  /// Whether everything is to be read anew: nothing is told of single records then.
  public let isReset: Bool

  /// The record that a change is about: the old one for a deletion, else the new one.
  ///
  /// O(log n), n records, and its decoding.
  public func record(of change: FetchedRecordChange) -> Record {
    switch change {
    case .deletion(let path): old.record(at: path)
    case .insertion(let path), .move(_, let path, _), .update(let path, _): new.record(at: path)
    }
  }

  /// Whether there is nothing to tell.
  var isEmpty: Bool { sectionChanges.isEmpty && recordChanges.isEmpty && !isReset }
}

extension FetchedRecordsChangeSet {
  /// Nothing but that all is to be read anew.
  init(resetFrom old: FetchedResults<Record>, to new: FetchedResults<Record>) {
    (sectionChanges, recordChanges) = ([], [])
    (self.old, self.new, isReset) = (old, new, true)
  }

  /// - Parameters:
  ///   - changes: index paths of the records' places.
  ///   - old: the records before.
  ///   - new: the records after.
  ///   - identity: by what records are the same.
  init(
    _ changes: ChangeSet, from old: FetchedResults<Record>, to new: FetchedResults<Record>,
    identity: RecordIdentity<Record>
  ) {
    (self.old, self.new, isReset) = (old, new, false)
    sectionChanges = changes.sectionChanges.map(FetchedSectionChange.init)
    let differences = RecordDifferences(old: old.state, new: new.state)
    let places = PlaceChanges(changes, identity: identity.ofPlaces(old: old, new: new))
    recordChanges = places.ordered(isChanged: { !differences.values($0, $1).isEmpty }).map {
      FetchedRecordChange($0, changes: differences.values)
    }
  }
}

/// By what two records of a controller are the same one.
enum RecordIdentity<Record: FetchableRecord & SendableMetatype>: Sendable {
  /// The request's key: records are those of a table.
  case key
  case closure(@Sendable (Record, Record) -> Bool)
  case none

  fileprivate func ofPlaces(
    old: FetchedResults<Record>, new: FetchedResults<Record>
  ) -> PlaceChanges.Identity {
    switch self {
    case .none: return .none
    case .key: return .key
    case .closure(let isSame):
      var decoded: (old: [Place: Record], new: [Place: Record]) = ([:], [:])
      func record(
        _ place: Place, of results: FetchedResults<Record>, _ known: inout [Place: Record]
      )
        -> Record
      {
        if let record = known[place] { return record }
        let record = results.record(at: Foundation.IndexPath(place))
        known[place] = record
        return record
      }
      return .closure { from, to in
        isSame(record(from, of: old, &decoded.old), record(to, of: new, &decoded.new))
      }
    }
  }
}

/// Old values of the columns in which two records differ.
private struct RecordDifferences {
  private let old: FetchedState?
  private let new: FetchedState?
  /// The new columns, each with where it stands in the old records, if it does.
  private var columns: [(name: String, old: Int?, new: Int)] = []

  init(old: FetchedState?, new: FetchedState?) {
    (self.old, self.new) = (old, new)
    let oldNames = old?.shape.columns ?? []
    let names = new?.shape.columns ?? []
    if oldNames == names {
      columns = names.enumerated().map { ($1, $0, $0) }
    } else {
      columns = names.enumerated().map { ($1, oldNames.firstIndex(of: $1), $0) }
    }
  }

  func values(_ from: Place, _ to: Place) -> [String: DatabaseValue] {
    guard let old, let new else { return [:] }
    let (before, after) = (old.results[from].values, new.results[to].values)
    var changed: [String: DatabaseValue] = [:]
    for column in columns {
      let value = column.old.map { before[$0] } ?? .null
      if value != after[column.new], changed[column.name] == nil {
        changed[column.name] = DatabaseValue(value)
      }
    }
    return changed
  }
}
