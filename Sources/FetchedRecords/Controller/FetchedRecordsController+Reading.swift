public import Foundation
import GRDB
import OrderedResults
import QueryAnalysis

extension FetchedRecordsController {
  /// The records, as an immutable value; empty before the first ``performFetch()``.
  ///
  /// O(1). Records are decoded when they are read.
  public var fetchedRecords: FetchedResults<Record> {
    FetchedResults(state: core.shown, indexTitle: indexTitle)
  }

  /// The record at an index path, which must be there. O(log n), n records.
  public func record(at indexPath: Foundation.IndexPath) -> Record {
    fetchedRecords.record(at: indexPath)
  }

  /// The sections. Without a section name there is one, also when it is empty.
  public var sections: FetchedSections<Record> { fetchedRecords.sections }

  /// The index path of a record; nil: it is not among the records.
  ///
  /// A record is found by its primary key if it can be encoded, else by `isSameRecord`, else as
  /// being equal. O(n), n records: 10 ns each by key, else the time to decode each.
  public func indexPath(for record: Record) -> Foundation.IndexPath? {
    let records = fetchedRecords
    if case .key = identity, let key = primaryKey(of: record) {
      return records.indexPath(forKeyValues: key)
    }
    if case .closure(let isSame) = identity {
      return records.enumerated().first { isSame($0.element, record) }
        .flatMap { records.indexPath(ofRecord: $0.offset) }
    }
    guard let record = record as? any Equatable else { return nil }
    return records.enumerated().first { isEqual(record, $0.element) }
      .flatMap { records.indexPath(ofRecord: $0.offset) }
  }

  private func isEqual<Other: Equatable>(_ other: Other, _ record: Record) -> Bool {
    record as? Other == other
  }

  private func primaryKey(of record: Record) -> [DatabaseValue]? {
    guard let encodable = record as? any EncodableRecord,
      let values = try? encodable.databaseDictionary,
      let names = core.shown?.results.layout.keyNames, !names.isEmpty
    else { return nil }
    let key = names.compactMap { name in
      values.first { $0.key.isSameIdentifier(as: name) }?.value
    }
    return key.count == names.count ? key : nil
  }

  // MARK: - Section index

  /// The titles of an index, one for each section. O(s), s sections.
  public var sectionIndexTitles: [String] { fetchedRecords.sectionIndexTitles }

  /// The index title of a section name: by default its first character in upper case; nil: none.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    indexTitle?(name) ?? name.first?.uppercased()
  }

  /// Makes index titles of section names in another way.
  ///
  /// - Parameter title: gives the title of a section name; nil: the default. It is called on any
  ///   thread whenever titles are read.
  public func overrideSectionIndexTitles(_ title: (@Sendable (String) -> String?)?) {
    indexTitle = title
  }

  /// The section that an entry of ``sectionIndexTitles`` stands for; nil: no section has this title.
  public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    fetchedRecords.section(forSectionIndexTitle: title, at: index)
  }
}
