package import OrderedResults

// Results of two requests, or of one under two schemas, side by side.
extension Results {
  /// What turns `old` into these results, whatever the layouts of both.
  ///
  /// Columns are the same if they have one name, keys if they have the same number of columns.
  /// O(n) where the layouts differ, else as ``changes(from:)``.
  package func changesAcrossLayouts(from old: Results) -> ChangeSet {
    if old.layout == layout { return changes(from: old) }
    let common = layout.withSectionColumns
    var changes = converted(to: common).changes(from: old.converted(to: common))
    // Without a section column there is one section even without records; with one there is none.
    if old.isEmpty, old.numberOfSections == 1 {
      changes.sectionChanges.insert(.deletion(section: 0, name: .null, indexTitle: ""), at: 0)
    }
    if isEmpty, numberOfSections == 1 {
      changes.sectionChanges.append(.insertion(section: 0, name: .null, indexTitle: ""))
    }
    return changes.withoutRoundTrip
  }

  private func converted(to common: RecordLayout) -> Results {
    let positions = layout.positions(for: common)
    var builder = ResultsBuilder(layout: common)
    var encoder = RecordEncoder()
    for index in 0..<numberOfSections {
      let section = section(at: index)
      for record in records(in: section.offset..<section.offset + section.numberOfRecords) {
        let values = record.values
        encoder.begin()
        for position in positions { encoder.append(position.map { values[$0] } ?? .null) }
        encoder.append(section.name)
        encoder.append(.text(section.indexTitle))
        builder.append(encoder)
      }
    }
    do {
      return try builder.finishWithoutChanges()
    } catch {
      preconditionFailure("the sections of results are contiguous: \(error)")
    }
  }
}

extension RecordLayout {
  /// This layout with the section's name and title in two more columns at the end.
  fileprivate var withSectionColumns: RecordLayout {
    RecordLayout(
      columns: columns, columnCount: columnCount + 2, key: key, keyIsUnique: false,
      keyNames: keyNames, section: columnCount, sectionIndexTitle: columnCount + 1)
  }

  /// Where the columns of `common`, but for its section's, stand in this layout; nil: nowhere.
  fileprivate func positions(for common: RecordLayout) -> [Int?] {
    var positions = [Int?](repeating: nil, count: common.columnCount - 2)
    var taken: Set<Int> = []
    for (index, name) in common.columns.enumerated() {
      let found = columns.indices.first { columns[$0] == name && !taken.contains($0) }
      if let found { taken.insert(found) }
      positions[index] = found
    }
    if let key, let commonKey = common.key, key.count == commonKey.count {
      for (own, other) in zip(key, commonKey) { positions[other] = own }
    }
    return positions
  }
}

extension ChangeSet {
  /// Without the deletion and the insertion of the one section that neither result names.
  fileprivate var withoutRoundTrip: ChangeSet {
    guard
      sectionChanges == [
        .deletion(section: 0, name: .null, indexTitle: ""),
        .insertion(section: 0, name: .null, indexTitle: ""),
      ], recordChanges.isEmpty
    else { return self }
    return ChangeSet()
  }
}
