/// An immutable, ordered list of records, cut into sections.
///
/// A reference, and results share what they have in common with the ones before. The
/// interface promises O(log n) access, n records, and no more.
package final class Results: Sendable {
  package let layout: RecordLayout
  let records: RecordList
  package let sections: SectionList
  /// Whether two records share a key; nil: not looked at yet.
  ///
  /// False where there are no keys.
  let hasDuplicateKeys: Bool?

  init(
    layout: RecordLayout, records: RecordList, sections: SectionList, hasDuplicateKeys: Bool?
  ) {
    self.layout = layout
    self.records = records
    self.sections = sections
    let mayRepeat = layout.key != nil && !layout.keyIsUnique
    self.hasDuplicateKeys = mayRepeat ? hasDuplicateKeys : false
  }

  func having(duplicateKeys: Bool?) -> Results {
    Results(
      layout: layout, records: records, sections: sections, hasDuplicateKeys: duplicateKeys)
  }

  /// A result without records: one empty section if the query has no section column, else none.
  package static func empty(_ layout: RecordLayout) -> Results {
    Results(
      layout: layout, records: RecordList(),
      sections: SectionListBuilder(layout).finish(count: 0), hasDuplicateKeys: false)
  }

  package var count: Int { records.count }
  package var isEmpty: Bool { records.count == 0 }
  package var numberOfSections: Int { sections.count }
  package func section(at index: Int) -> Section { sections[index] }

  /// The record at an offset, which must be there.
  ///
  /// O(log n), n records.
  package subscript(offset: Int) -> Record { records[offset] }

  /// The record at an index path, which must be there.
  ///
  /// O(log n), n records.
  package subscript(indexPath: IndexPath) -> Record { records[offset(of: indexPath)] }

  /// The records of a range of offsets, in order.
  ///
  /// O(log n + k), k records among n.
  package func records(in range: Range<Int>) -> RecordSequence { RecordSequence(records, range) }

  /// Whether there is a record at an index path.
  ///
  /// O(1).
  package func contains(_ indexPath: IndexPath) -> Bool {
    sections.indices ~= indexPath.section
      && 0..<sections[indexPath.section].numberOfRecords ~= indexPath.item
  }

  /// How many records stand before the one at `indexPath`, which must be there.
  ///
  /// O(1).
  package func offset(of indexPath: IndexPath) -> Int {
    precondition(contains(indexPath), "no record at \(indexPath)")
    return sections[indexPath.section].offset + indexPath.item
  }

  /// About how many bytes the records take, told from a few of them.
  ///
  /// O(log n), n records.
  package var estimatedByteCount: Int {
    let sample = stride(from: 0, to: count, by: max(1, count / 32)).map { self[$0].byteCount }
    guard !sample.isEmpty else { return 0 }
    return sample.reduce(0, +) / sample.count * count
  }

  /// The index path of the record at an offset, which must be there.
  ///
  /// O(log s), s sections.
  package func indexPath(ofOffset offset: Int) -> IndexPath {
    precondition(0..<count ~= offset, "no record \(offset) among \(count)")
    let section = sections.index(ofOffset: offset)
    return IndexPath(section: section, item: offset - sections[section].offset)
  }
}
