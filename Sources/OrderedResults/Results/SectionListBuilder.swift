/// Cuts records that arrive in order into sections.
struct SectionListBuilder {
  private let layout: RecordLayout
  private var sections: [Section] = []
  /// The encoded section column of a record of the last section; empty if it is not at hand.
  private var lastBytes: [UInt8] = []

  init(_ layout: RecordLayout) {
    self.layout = layout
    if layout.section == nil {
      sections.append(Section(name: .null, indexTitle: "", numberOfRecords: 0, offset: 0))
    }
  }

  /// Begins a section if the next record is not of the last one.
  ///
  /// O(c + b), c the section's column, b the bytes of the name.
  @inline(__always)
  mutating func add(_ record: BorrowedBytes, at offset: Int) {
    if let position = layout.section { add(record, at: offset, position) }
  }

  private mutating func add(_ record: BorrowedBytes, at offset: Int, _ position: Int) {
    let column = record.column(position)
    if isLast(column) { return }
    let name = column.value.canonical
    lastBytes = Array(UnsafeRawBufferPointer(start: column.start, count: column.count))
    if let last = sections.last, last.name == name { return }
    let indexTitle = layout.indexTitle(of: record, name: name)
    begin(Section(name: name, indexTitle: indexTitle, numberOfRecords: 0, offset: offset))
  }

  /// Begins a section that the caller knows to be another one, as an old one was.
  ///
  /// O(1).
  mutating func add(like section: Section, at offset: Int) {
    guard layout.section != nil else { return }
    lastBytes = []
    begin(
      Section(
        name: section.name, indexTitle: section.indexTitle, numberOfRecords: 0, offset: offset))
  }

  /// The sections of `count` records.
  consuming func finish(count: Int) -> SectionList {
    if let last = sections.indices.last {
      sections[last].numberOfRecords = count - sections[last].offset
    }
    return SectionList(sections)
  }

  private mutating func begin(_ section: Section) {
    if let last = sections.indices.last {
      sections[last].numberOfRecords = section.offset - sections[last].offset
    }
    sections.append(section)
  }

  private func isLast(_ column: BorrowedBytes) -> Bool {
    lastBytes.withUnsafeBytes { last in
      // A column has at least one byte, so that nothing equals the array when it is empty.
      guard let start = last.baseAddress else { return false }
      return column.isEqual(to: BorrowedBytes(start: start, count: last.count))
    }
  }
}

extension SectionList {
  /// Refuses a name that comes back after another section.
  ///
  /// O(s), s sections.
  func checkNames(_ records: RecordList, _ layout: RecordLayout) throws(SectionError) {
    var offsets: [Value: Int] = [:]
    offsets.reserveCapacity(count)
    for section in self {
      guard let first = offsets.updateValue(section.offset, forKey: section.name) else { continue }
      throw SectionError(
        name: section.name, offset: section.offset, key: layout.key(of: records[section.offset]),
        firstOffset: first)
    }
  }

  /// Whether names and index titles are the same; where the sections begin may differ.
  func hasSameNames(as other: SectionList) -> Bool {
    count == other.count
      && zip(self, other).allSatisfy { $0.name == $1.name && $0.indexTitle == $1.indexTitle }
  }
}
