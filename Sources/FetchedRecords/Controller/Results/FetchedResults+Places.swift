public import Foundation
public import GRDB
import OrderedResults

extension FetchedResults {
  /// The sections. Without a section name there is one, also when it is empty; with one, no section
  /// is empty.
  public var sections: FetchedSections<Record> { FetchedSections(results: self) }

  /// The record at an index path, which must be there. O(log n), n records.
  public func record(at indexPath: Foundation.IndexPath) -> Record {
    guard let state, indexPath.count == 2, state.results.contains(Place(indexPath)) else {
      preconditionFailure("no record at \(indexPath)")
    }
    return self[state.results.offset(of: Place(indexPath))]
  }

  /// The index path of the record at a place in the order; nil: there is none. O(log s), s sections.
  public func indexPath(ofRecord position: Int) -> Foundation.IndexPath? {
    guard let state, indices.contains(position) else { return nil }
    return Foundation.IndexPath(state.results.indexPath(ofOffset: position))
  }

  /// The index path of the record with these key values, in the order of the primary key's columns;
  /// nil: there is none, or the request's key is not known.
  ///
  /// O(n), n records, at some 10 ns each.
  public func indexPath(forKey key: any DatabaseValueConvertible...) -> Foundation.IndexPath? {
    indexPath(forKeyValues: key.map(\.databaseValue))
  }

  func indexPath(forKeyValues key: [DatabaseValue]) -> Foundation.IndexPath? {
    guard let state, let offset = state.results.offset(ofKey: key.map(Value.init)) else {
      return nil
    }
    return Foundation.IndexPath(state.results.indexPath(ofOffset: offset))
  }

  /// The titles of an index, one for each section.
  public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

  /// The section that the entry at `index` of ``sectionIndexTitles`` stands for: the first with that
  /// title from there on, or else the first with it at all; nil: no section has this title.
  ///
  /// O(s), s sections.
  public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    let titles = sectionIndexTitles
    return titles.indices.first { $0 >= index && titles[$0] == title }
      ?? titles.firstIndex(of: title)
  }
}

extension Place {
  /// Of an index path with a section and an item.
  init(_ indexPath: Foundation.IndexPath) {
    self.init(section: indexPath[0], item: indexPath[1])
  }
}

extension Foundation.IndexPath {
  init(_ place: Place) { self.init(indexes: [place.section, place.item]) }
}
